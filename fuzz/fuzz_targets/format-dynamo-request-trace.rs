#![no_main]

corr_fuzz::target!("format-dynamo-request-trace");
