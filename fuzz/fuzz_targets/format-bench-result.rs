#![no_main]

corr_fuzz::target!("format-bench-result");
