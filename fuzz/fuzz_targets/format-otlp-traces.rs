#![no_main]

corr_fuzz::target!("format-otlp-traces");
