//! Tests over fixtures in this folder, and over the captured cases where they are present.

mod cases;
