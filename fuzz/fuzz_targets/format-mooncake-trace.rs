#![no_main]

corr_fuzz::target!("format-mooncake-trace");
