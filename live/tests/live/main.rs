//! Endpoints that behave in every way an endpoint can, scraped and looked into over the loopback.

mod follow;
mod probe;
mod scrape;
mod server;
