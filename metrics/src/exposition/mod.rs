//! The exposition formats: Prometheus text 0.0.4 and OpenMetrics 1.0, line by line from bytes, without copying.
