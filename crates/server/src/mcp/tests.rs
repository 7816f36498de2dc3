//! Tests of the protocol over streams in memory.
