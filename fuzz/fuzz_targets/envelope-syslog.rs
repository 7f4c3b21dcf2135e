#![no_main]

corr_fuzz::target!("envelope-syslog");
