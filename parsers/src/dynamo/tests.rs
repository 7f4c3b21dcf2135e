//! Tests of Dynamo's log lines: grammar, ids, kinds, and the captures where they are present.

mod captures;
