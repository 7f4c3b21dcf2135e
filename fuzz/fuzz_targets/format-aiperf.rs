#![no_main]

corr_fuzz::target!("format-aiperf");
