//! What a series did in a window: pure arithmetic on samples (formats/metrics.md 6). Never extrapolated.
