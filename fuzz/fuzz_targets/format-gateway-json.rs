#![no_main]

corr_fuzz::target!("format-gateway-json");
