#![no_main]

corr_fuzz::target!("envelope-kubectl");
