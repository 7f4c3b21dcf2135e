#![no_main]

corr_fuzz::target!("format-sglang");
