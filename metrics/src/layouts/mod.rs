//! One file a layout in which captures are kept.
