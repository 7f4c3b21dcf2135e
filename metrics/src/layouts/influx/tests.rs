use proptest::prelude::*;

use super::*;

fn read_text(text: &[u8]) -> Capture {
    let mut builder = Builder::new(LAYOUT.name, Clock::Wall, StampOf::Unknown);
    protocol(Lines::new(text), "t.lp", &mut builder);
    builder.finish()
}

/// Spelled series with their values, in the order in which they came.
fn values(capture: &Capture) -> Vec<(String, Vec<f64>)> {
    let series = 0..u32::try_from(capture.series.len()).unwrap();
    series.map(|i| (capture.spelled(crate::model::SeriesId(i)), capture.samples.all(i).iter().map(|s| s.value).collect())).collect()
}

const ONE: &str = "\
sglang:prompt_tokens_total,model_name=Qwen/Qwen3-32B counter=16857815.0 1795976934876043331
lat,host=h sum=1.5,0.1=1.0,1.0=2.0,+Inf=3.0,count=3.0 1795976934876043331
rpc,host=h sum=1.5,0.5=0.2,0.99=0.3,count=3.0 1795976934876043331
load,host=h gauge=0.5 1795976934876043331
";

#[test]
fn form_one_says_types_and_names_bounds() {
    let capture = read_text(ONE.as_bytes());
    let want = [
        (r#"sglang:prompt_tokens_total{model_name="Qwen/Qwen3-32B"}"#, 16_857_815.0),
        (r#"lat_sum{host="h"}"#, 1.5),
        (r#"lat_bucket{host="h",le="0.1"}"#, 1.0),
        (r#"lat_bucket{host="h",le="1"}"#, 2.0),
        (r#"lat_bucket{host="h",le="+Inf"}"#, 3.0),
        (r#"lat_count{host="h"}"#, 3.0),
        (r#"rpc_sum{host="h"}"#, 1.5),
        (r#"rpc{host="h",quantile="0.5"}"#, 0.2),
        (r#"rpc{host="h",quantile="0.99"}"#, 0.3),
        (r#"rpc_count{host="h"}"#, 3.0),
        (r#"load{host="h"}"#, 0.5),
    ];
    assert_eq!(values(&capture), want.map(|(name, value)| (name.to_string(), vec![value])));
    let kinds: Vec<_> = capture.families.iter().map(|(name, family)| (name.as_str(), family.kind)).collect();
    let want = [
        ("lat", Some(Kind::Histogram)),
        ("load", Some(Kind::Gauge)),
        ("rpc", Some(Kind::Summary)),
        ("sglang:prompt_tokens_total", Some(Kind::Counter)),
    ];
    assert_eq!(kinds, want);
    assert_eq!(capture.stamp_of, StampOf::Body);
    assert!(capture.notes.is_empty(), "{:?}", capture.notes);
}

#[test]
fn form_two_takes_the_endpoint_from_the_url() {
    let capture = read_text(
        b"prometheus,host=h,le=1.0,url=http://127.0.0.1:13000/metrics x_bucket=2 1795976934000000000\n\
          prometheus,host=h,url=http://127.0.0.1:13000/metrics x_count=2,x_sum=3.5 1795976934000000000\n",
    );
    let names: Vec<String> = values(&capture).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [r#"x_bucket{host="h",le="1"}"#, r#"x_count{host="h"}"#, r#"x_sum{host="h"}"#]);
    assert_eq!(capture.endpoints.len(), 1);
    assert_eq!(capture.endpoints[0].url.as_deref(), Some("http://127.0.0.1:13000/metrics"));
    assert_eq!(capture.notes.iter().map(|n| n.code).collect::<Vec<_>>(), ["rounded_stamps"]);
}

#[test]
fn damage_is_said_and_the_rest_kept() {
    let capture = read_text(
        b"cpu,host=a usage=1i,on=t,s=\"x\" 1795976934\n\
          # a comment\n\
          no line protocol\n\
          cpu,host=a usage=2i\n\
          cpu,host=a usage=3i 1795976933\n\
          cpu,host=a usage=4i 17959769",
    );
    assert_eq!(values(&capture)[0], (r#"cpu_usage{host="a"}"#.to_string(), vec![3.0, 1.0]));
    assert_eq!(capture.series[0].trouble.disordered, 1);
    let notes: Vec<_> = capture.notes.iter().map(|n| (n.code, n.count, n.first.as_deref().unwrap())).collect();
    let want = [
        ("unit_by_size", 2, "t.lp:1"),
        ("text_field", 1, "t.lp:1"),
        ("bad_line", 1, "t.lp:3"),
        ("no_stamp", 1, "t.lp:4"),
        ("truncated", 1, "t.lp:6"),
        ("rounded_stamps", 1, "t.lp"),
    ];
    assert_eq!(notes, want);
    assert_eq!(capture.stamp_of, StampOf::Unknown);
}

#[test]
fn only_lines_with_numbers_and_stamps_are_claimed() {
    assert_eq!(form_of(ONE.as_bytes()), Some(Form::One));
    assert_eq!(form_of(b"prometheus,url=u a_total=1 1795976934876043331\n"), Some(Form::Two));
    assert_eq!(form_of(b"cpu,host=a idle=1i 1795976934876043331\n"), Some(Form::Other));
    for other in ["", "# only a comment\n", "m v=1\n", "m v=\"x\" 1795976934876043331\n", "up 1\n", "a=1 b=2 c=3\n", "{\"a\":1}\n"] {
        assert_eq!(form_of(other.as_bytes()), None, "{other}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_said(cut in 0usize..400, flips in prop::collection::vec((0usize..400, any::<u8>()), 0..6)) {
        let mut bytes = ONE.as_bytes().to_vec();
        for (at, byte) in flips {
            if let Some(b) = bytes.get_mut(at) {
                *b = byte;
            }
        }
        bytes.truncate(cut);
        form_of(&bytes);
        read_text(&bytes);
    }
}
