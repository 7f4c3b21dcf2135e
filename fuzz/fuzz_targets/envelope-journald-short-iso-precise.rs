#![no_main]

corr_fuzz::target!("envelope-journald-short-iso-precise");
