# One line a record's first line: `@ message` of SGLang, `R message` of its Rust front-end, `G message` of a gateway; all else as it stands.
# ANSI escapes go; a record that begins straight behind a progress bar gets a line of its own.
s/\x1b\[[0-9;?]*[A-Za-z]//g
s/\r+$//
s/(it\/s\]|s\/it\])\r?\[20/\1\n[20/g
# SGLang: custom `[stamp][file.py:1][INFO]: `, its own `[stamp tags] `, a vendor's `stamp INFO pid [tags file.py:1] `, a JSON formatter's object.
s/(^|\n)\[20[0-9][0-9]-[0-9-]+ [0-9:]+(\.[0-9]+)?\]\[[^]]*\.py:[0-9]+\]\[[A-Z]+\]: /\1@ /
s/(^|\n)\[20[0-9][0-9]-[0-9-]+ [0-9:]+(\.[0-9]+)?( (DP|PP|ATTN_CP|MOE_DP|TP|EP)[0-9]+)*( encode_server)?\] /\1@ /
s/(^|\n)20[0-9][0-9]-[0-9-]+ [0-9:]+ [A-Z]+ [0-9]+ \[[^]]*\.py:[0-9]+\] /\1@ /
s/^\{"asctime": "[^"]*".*"name": "sglang[^"]*".*"message": "(.*)"\}$/@ \1/
# uvicorn's level column, and `WARNING file.py:1: ` of some modules.
s/(^|\n)@ (INFO|WARNING|ERROR): {2,5}/\1@ U /
s/(^|\n)@ (INFO|WARNING|ERROR) [a-z_0-9]+\.py:[0-9]+: /\1@ /
# The Rust front-end.
s/^20[0-9-]+T[0-9:.]+Z +[A-Z]+ sglang_server::[a-z_:]+: /R /
# Gateways: text (UTC, no zone printed), the launcher's, JSON.
s/^20[0-9-]+ [0-9:]+ +(INFO|WARN|ERROR|DEBUG) (http_request\{.*\}: )?(smg|sglang_router_rs|sgl_model_gateway)(::[a-z_]+)*: [^ ]+:[0-9]+: /G /
s/^\[Router \((Rust|Python)\)\] 20[0-9-]+ [0-9:]+ - [A-Z]+ - /G /
s/^\{"timestamp":"20[0-9-]+ [0-9:]+","level":"[A-Z]+","message":"(.*)","target":"(smg|sglang_router_rs|sgl_model_gateway).*$/G \1/
