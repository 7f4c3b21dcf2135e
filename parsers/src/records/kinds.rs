//! Kinds of JSON records of programs without a format of their own.

use crate::event::Kind;

pub static JSON_RECORD: Kind = Kind {
    name: "json_record",
    about: "a JSON object of a program without a format here; its scalars are fields, a stamp is read only from keys that name one",
    words: "",
};
pub static CHAT_RESPONSE: Kind = Kind {
    name: "chat_response",
    about: "the body of an OpenAI response (chat, text or responses API), its text withheld; `created` is the server's whole second; does not say which worker served it",
    words: "",
};
pub static CLIENT_REQUEST: Kind = Kind {
    name: "client_request",
    about: "a client's own record of one call, with its start and end by the client's clock; does not prove that a server saw it",
    words: "",
};

/// All of them.
pub static KINDS: &[&Kind] = &[&JSON_RECORD, &CHAT_RESPONSE, &CLIENT_REQUEST];
