#![no_main]

corr_fuzz::target!("envelope-journald-with-unit");
