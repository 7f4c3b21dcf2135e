//! dynamo
