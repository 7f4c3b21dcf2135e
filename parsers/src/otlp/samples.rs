//! Spans of real captures (SGLang 0.5.23, Dynamo 1.6.1; of Dynamo's the first two events, and in the document three attributes are left) with their kinds.

/// Parts of a line, a line with one span, a document over several lines.
pub static TRACES: &[(&str, &str)] = &[
    (
        r##"{"resourceSpans":[{"resource":{"attributes":[{"key":"telemetry.sdk.language","value":{"stringValue":"python"}},{"key":"telemetry.sdk.name","value":{"stringValue":"opentelemetry"}},{"key":"telemetry.sdk.version","value":{"stringValue":"1.37.0"}},{"key":"service.name","value":{"stringValue":"sglang"}}]},"scopeSpans":[{"scope":{"name":"sglang server"},"spans":["##,
        "otlp_resource",
    ),
    (
        r##"{"traceId":"00000000000000007a97c643656412a9","spanId":"8ca5996666ceab36","parentSpanId":"0512bd1311072231","flags":256,"name":"tokenize","kind":1,"startTimeUnixNano":"1779265829786100000","endTimeUnixNano":"1779265829792200000","attributes":[],"events":[],"links":[],"status":{}},"##,
        "otlp_span",
    ),
    (
        r##"{"traceId":"00000000000000007a97c643656412a9","spanId":"1710cf5327ac435a","parentSpanId":"","flags":256,"name":" Req b8a1abcd","kind":1,"startTimeUnixNano":"1779265829786100000","endTimeUnixNano":"1779265831010200000","attributes":[{"key":"rid","value":{"stringValue":"b8a1abcd1a6916c74da4f9fc3c6da5d7"}},{"key":"module","value":{"stringValue":"sglang::request"}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"64"}},{"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"12288"}},{"key":"gen_ai.usage.cached_tokens","value":{"intValue":"12032"}},{"key":"gen_ai.request.id","value":{"stringValue":"b8a1abcd1a6916c74da4f9fc3c6da5d7"}},{"key":"gen_ai.request.max_tokens","value":{"intValue":"128"}},{"key":"gen_ai.request.top_p","value":{"doubleValue":1.0}},{"key":"gen_ai.request.temperature","value":{"doubleValue":0.7}},{"key":"gen_ai.request.top_k","value":{"intValue":"-1"}},{"key":"gen_ai.request.n","value":{"intValue":"1"}},{"key":"gen_ai.response.model","value":{"stringValue":"qwen3-32b"}},{"key":"gen_ai.response.finish_reasons","value":{"stringValue":"[\"stop\"]"}},{"key":"gen_ai.latency.time_to_first_token","value":{"doubleValue":0.8151}},{"key":"gen_ai.latency.e2e","value":{"doubleValue":1.2241}},{"key":"gen_ai.latency.time_in_model_decode","value":{"doubleValue":0.409}},{"key":"gen_ai.latency.time_in_model_inference","value":{"doubleValue":1.2169}},{"key":"gen_ai.latency.time_in_model_prefill","value":{"doubleValue":0.8079}}],"events":[],"links":[],"status":{}}]}]}]}"##,
        "otlp_span",
    ),
    (
        r##"{"traceId":"941841a76c5a4c0e83f9edd7980903b6","spanId":"cddadb51a3e25627","parentSpanId":"759ac63ba842cdbc","name":"kv_router.route_request","kind":"SPAN_KIND_CLIENT","startTimeUnixNano":"1795975799776545172","endTimeUnixNano":"1795975799826459155","attributes":[{"key":"code.file.path","value":{"stringValue":"/opt/dynamo/lib/llm/src/kv_router/routing_host/kv.rs"}},{"key":"code.module.name","value":{"stringValue":"dynamo_llm::kv_router::routing_host::kv"}},{"key":"code.line.number","value":{"intValue":"560"}},{"key":"thread.id","value":{"intValue":"9"}},{"key":"thread.name","value":{"stringValue":"tokio-rt-worker"}},{"key":"target","value":{"stringValue":"request_span"}},{"key":"request_id","value":{"stringValue":"375499bf-c7fb-4502-9a61-2b27d3e423ef"}},{"key":"dp_rank","value":{"stringValue":"0"}},{"key":"overlap_blocks","value":{"stringValue":"0"}},{"key":"phase","value":{"stringValue":"Aggregated"}},{"key":"worker_id","value":{"stringValue":"3643923813577302044"}},{"key":"request.attempt","value":{"stringValue":"0"}},{"key":"migration.is_retry","value":{"boolValue":false}},{"key":"migration.tokens_completed","value":{"stringValue":"0"}},{"key":"request.outcome","value":{"stringValue":"success"}},{"key":"busy_ns","value":{"intValue":"978960"}},{"key":"idle_ns","value":{"intValue":"48935790"}}],"events":[{"timeUnixNano":"1795975799776575261","name":"SPAN_FIRST_ENTRY","attributes":[{"key":"level","value":{"stringValue":"INFO"}},{"key":"target","value":{"stringValue":"span_event"}},{"key":"code.file.path","value":{"stringValue":"/opt/dynamo/lib/runtime/src/logging.rs"}},{"key":"code.module.name","value":{"stringValue":"dynamo_runtime::logging"}},{"key":"code.line.number","value":{"intValue":"1182"}}]},{"timeUnixNano":"1795975799826399861","name":"route request completed","attributes":[{"key":"level","value":{"stringValue":"INFO"}},{"key":"target","value":{"stringValue":"request_span"}},{"key":"request.outcome","value":{"stringValue":"success"}},{"key":"code.file.path","value":{"stringValue":"/opt/dynamo/lib/runtime/src/pipeline/network/egress/route_span.rs"}},{"key":"code.module.name","value":{"stringValue":"dynamo_runtime::pipeline::network::egress::route_span"}},{"key":"code.line.number","value":{"intValue":"275"}}]}],"status":{},"flags":257}"##,
        "otlp_span",
    ),
    (
        r##"{"traceId":"8fb5386d9f9b85506d9a62410593270e","spanId":"752ba1abb308f77c","parentSpanId":"070f4299208ede14","name":"request.lifecycle","kind":"SPAN_KIND_INTERNAL","startTimeUnixNano":"1795975800609153877","endTimeUnixNano":"1795975800851681252","attributes":[{"key":"code.file.path","value":{"stringValue":"/opt/dynamo/lib/runtime/src/telemetry.rs"}},{"key":"code.module.name","value":{"stringValue":"dynamo_runtime::telemetry"}},{"key":"code.line.number","value":{"intValue":"185"}},{"key":"thread.id","value":{"intValue":"9"}},{"key":"thread.name","value":{"stringValue":"tokio-rt-worker"}},{"key":"target","value":{"stringValue":"dynamo.request_lifecycle"}},{"key":"dynamo.request.id","value":{"stringValue":"9d7a9e2c-b27c-417e-a412-958a5b7a2f21"}},{"key":"dynamo.operation.id","value":{"stringValue":"5df9a048-8a55-4017-902c-e7fd96299212"}},{"key":"dynamo.operation.role","value":{"stringValue":"frontend"}},{"key":"dynamo.lifecycle.schema","value":{"stringValue":"v1"}},{"key":"dynamo.lifecycle.profile","value":{"stringValue":"generic.v1"}},{"key":"dynamo.lifecycle.mode","value":{"stringValue":"core"}},{"key":"dynamo.component","value":{"stringValue":"frontend"}},{"key":"dynamo.instance.id","value":{"stringValue":"pid-18894"}},{"key":"dynamo.process.epoch","value":{"stringValue":"18894:721db1b5-73df-4825-8fd2-7fef6dfe8a71"}},{"key":"dynamo.lifecycle.identity.state","value":{"stringValue":"complete"}},{"key":"dynamo.session.id","value":{"stringValue":"9d7a9e2c-b27c-417e-a412-958a5b7a2f21"}},{"key":"dynamo.session.source","value":{"stringValue":"request_id_fallback"}},{"key":"dynamo.session.id","value":{"stringValue":"9d7a9e2c-b27c-417e-a412-958a5b7a2f21"}},{"key":"dynamo.session.source","value":{"stringValue":"request_id_fallback"}},{"key":"dynamo.request.terminal.timestamp_unix_ns","value":{"stringValue":"1795975800851587856"}},{"key":"dynamo.request.terminal.outcome","value":{"stringValue":"success"}},{"key":"dynamo.request.terminal.error","value":{"boolValue":false}},{"key":"busy_ns","value":{"intValue":"4216738"}},{"key":"idle_ns","value":{"intValue":"238311732"}}],"events":[{"timeUnixNano":"1795975800613705708","name":"SPAN_FIRST_ENTRY","attributes":[{"key":"level","value":{"stringValue":"INFO"}},{"key":"target","value":{"stringValue":"span_event"}},{"key":"code.file.path","value":{"stringValue":"/opt/dynamo/lib/runtime/src/logging.rs"}},{"key":"code.module.name","value":{"stringValue":"dynamo_runtime::logging"}},{"key":"code.line.number","value":{"intValue":"1182"}}]},{"timeUnixNano":"1795975800613784103","name":"request received","attributes":[{"key":"level","value":{"stringValue":"INFO"}},{"key":"target","value":{"stringValue":"dynamo_llm::http::service::metrics"}},{"key":"request_id","value":{"stringValue":"9d7a9e2c-b27c-417e-a412-958a5b7a2f21"}},{"key":"model","value":{"stringValue":"tiny"}},{"key":"endpoint","value":{"stringValue":"chat_completions"}},{"key":"request_type","value":{"stringValue":"unary"}},{"key":"code.file.path","value":{"stringValue":"/opt/dynamo/lib/llm/src/http/service/metrics.rs"}},{"key":"code.module.name","value":{"stringValue":"dynamo_llm::http::service::metrics"}},{"key":"code.line.number","value":{"intValue":"1711"}}]}],"status":{},"flags":257}"##,
        "otlp_span",
    ),
    (
        r##"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"dynamo-frontend"}}]},"scopeSpans":[{"scope":{"name":"dynamo-frontend"},"spans":[{"traceId":"941841a76c5a4c0e83f9edd7980903b6","spanId":"c135806b664c697b","name":"http-request","kind":"SPAN_KIND_INTERNAL","startTimeUnixNano":"1795975799770916448","endTimeUnixNano":"1795975799828147110","attributes":[{"key":"code.file.path","value":{"stringValue":"/opt/dynamo/lib/runtime/src/logging.rs"}},{"key":"code.module.name","value":{"stringValue":"dynamo_runtime::logging"}},{"key":"code.line.number","value":{"intValue":"636"}},{"key":"thread.id","value":{"intValue":"10"}},{"key":"thread.name","value":{"stringValue":"tokio-rt-worker"}},{"key":"target","value":{"stringValue":"request_span"}},{"key":"method","value":{"stringValue":"POST"}},{"key":"uri","value":{"stringValue":"/v1/completions"}},{"key":"version","value":{"stringValue":"HTTP/1.1"}},{"key":"x_request_id","value":{"stringValue":"xr-v1-completions"}},{"key":"request_id","value":{"stringValue":"375499bf-c7fb-4502-9a61-2b27d3e423ef"}},{"key":"busy_ns","value":{"intValue":"6848285"}},{"key":"idle_ns","value":{"intValue":"50385950"}}],"events":[{"timeUnixNano":"1795975799770996941","name":"SPAN_FIRST_ENTRY","attributes":[{"key":"level","value":{"stringValue":"INFO"}},{"key":"target","value":{"stringValue":"span_event"}},{"key":"code.file.path","value":{"stringValue":"/opt/dynamo/lib/runtime/src/logging.rs"}},{"key":"code.module.name","value":{"stringValue":"dynamo_runtime::logging"}},{"key":"code.line.number","value":{"intValue":"1182"}}]},{"timeUnixNano":"1795975799828093274","name":"http response sent","attributes":[{"key":"level","value":{"stringValue":"INFO"}},{"key":"target","value":{"stringValue":"dynamo_llm::http::service::service_v2"}},{"key":"status","value":{"stringValue":"200"}},{"key":"latency_ms","value":{"stringValue":"57"}},{"key":"code.file.path","value":{"stringValue":"/opt/dynamo/lib/llm/src/http/service/service_v2.rs"}},{"key":"code.module.name","value":{"stringValue":"dynamo_llm::http::service::service_v2"}},{"key":"code.line.number","value":{"intValue":"1434"}}]}],"status":{},"flags":257}]}]}]}"##,
        "otlp_span",
    ),
    (
        r##"{
 "resourceSpans": [
  {
   "resource": {
    "attributes": [
     {
      "key": "service.name",
      "value": {
       "stringValue": "dynamo-frontend"
      }
     }
    ]
   },
   "scopeSpans": [
    {
     "scope": {
      "name": "dynamo-frontend"
     },
     "spans": [
      {
       "traceId": "941841a76c5a4c0e83f9edd7980903b6",
       "spanId": "c135806b664c697b",
       "name": "http-request",
       "kind": "SPAN_KIND_INTERNAL",
       "startTimeUnixNano": "1795975799770916448",
       "endTimeUnixNano": "1795975799828147110",
       "attributes": [
        {
         "key": "x_request_id",
         "value": {
          "stringValue": "xr-v1-completions"
         }
        },
        {
         "key": "request_id",
         "value": {
          "stringValue": "375499bf-c7fb-4502-9a61-2b27d3e423ef"
         }
        }
       ],
       "status": {},
       "flags": 257
      },
      {
       "traceId": "941841a76c5a4c0e83f9edd7980903b6",
       "spanId": "cddadb51a3e25627",
       "parentSpanId": "759ac63ba842cdbc",
       "name": "kv_router.route_request",
       "kind": "SPAN_KIND_CLIENT",
       "startTimeUnixNano": "1795975799776545172",
       "endTimeUnixNano": "1795975799826459155",
       "attributes": [
        {
         "key": "request_id",
         "value": {
          "stringValue": "375499bf-c7fb-4502-9a61-2b27d3e423ef"
         }
        },
        {
         "key": "worker_id",
         "value": {
          "stringValue": "3643923813577302044"
         }
        }
       ],
       "status": {},
       "flags": 257
      }
     ]
    }
   ]
  }
 ]
}"##,
        "otlp_spans",
    ),
];
