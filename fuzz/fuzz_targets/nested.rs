#![no_main]

corr_fuzz::target!("nested");
