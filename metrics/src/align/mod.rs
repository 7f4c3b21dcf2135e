//! Clocks of captures: where an elapsed clock began, how far two scrapers are apart, and how well that is known.
