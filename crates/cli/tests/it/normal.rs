//! Makes outputs the same on every machine and day: ids, times and durations are blotted out.

/// Something at the front of a text, as its length in characters and what to write instead.
type Blot = Option<(usize, String)>;

/// Blots out everything that differs from one call to the next.
pub(crate) fn text(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut shown = String::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let fresh = at == 0 || !chars[at - 1].is_ascii_alphanumeric() && chars[at - 1] != '.';
        let blots = [run_id, moment, time_of_day, duration, days, number, digest];
        let blot = blots.iter().find_map(|blot| blot(rest)).filter(|_| fresh);
        if let Some((length, instead)) = blot {
            shown.push_str(&instead);
            at += length;
        } else {
            shown.push(rest[0]);
            at += 1;
        }
    }
    bars(&shown)
}

/// Matches a shape in which `9` is any digit, `x` any hexadecimal one, the rest itself.
fn shape(rest: &[char], shape: &str) -> bool {
    let fits = |(wanted, found): (char, &char)| match wanted {
        '9' => found.is_ascii_digit(),
        'x' => found.is_ascii_hexdigit(),
        other => *found == other,
    };
    rest.len() >= shape.chars().count() && shape.chars().zip(rest).all(fits)
}

fn digits(rest: &[char]) -> usize {
    rest.iter().take_while(|c| c.is_ascii_digit()).count()
}

fn run_id(rest: &[char]) -> Blot {
    let wanted = "99999999T999999Z-cluster-xxxx";
    shape(rest, wanted).then(|| (wanted.len(), "20260101T000000Z-cluster-0000".into()))
}

/// `2026-11-15T12:00:00.123Z` and `2026-11-15 12:00:00 UTC`, also without the time.
fn moment(rest: &[char]) -> Blot {
    if shape(rest, "9999-99-99T99:99:99") {
        let fraction = match rest.get(19) {
            Some('.') => 1 + digits(&rest[20..]),
            _ => 0,
        };
        return Some((19 + fraction, "2026-01-01T00:00:00".into()));
    }
    if shape(rest, "9999-99-99 99:99:99") {
        return Some((19, "2026-01-01 00:00:00".into()));
    }
    shape(rest, "9999-99-99").then(|| (10, "2026-01-01".into()))
}

fn time_of_day(rest: &[char]) -> Blot {
    shape(rest, "99:99:99.999").then(|| (12, "00:00:00.000".into()))
}

fn duration(rest: &[char]) -> Blot {
    let whole = digits(rest);
    let wanted = [".99s", ".9s"]
        .into_iter()
        .find(|shaped| shape(&rest[whole..], shaped));
    let wanted = wanted.filter(|_| whole > 0)?;
    let length = whole + wanted.len();
    // Columns are right-aligned: what is written instead is as long.
    Some((
        length,
        format!("{:0>width$}", ".00s", width = length.max(5)),
    ))
}

/// `365 days left` in the second of issue, `364 days left` right after it.
fn days(rest: &[char]) -> Blot {
    let length = digits(rest);
    let days = length > 0 && shape(&rest[length..], " days left");
    days.then(|| (length, "N".repeat(length)))
}

/// Numbers of JSON that say how long something took.
fn number(rest: &[char]) -> Blot {
    for key in [
        "\"seconds\": ",
        "\"millis\": ",
        "\"seconds\":",
        "\"millis\":",
    ] {
        let length = key.len();
        if shape(rest, key) && rest.get(length).is_some_and(char::is_ascii_digit) {
            let value = rest[length..].iter();
            let value = value
                .take_while(|c| c.is_ascii_digit() || **c == '.')
                .count();
            return Some((length + value, format!("{key}0")));
        }
    }
    None
}

fn digest(rest: &[char]) -> Blot {
    let wanted = format!("sha256:{}", "x".repeat(64));
    shape(rest, &wanted).then(|| (wanted.len(), "sha256:0".into()))
}

/// Bars say how long something took, too.
fn bars(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    for line in &mut lines {
        if line.ends_with('━') {
            *line = format!("{}━", line.trim_end_matches('━'));
        }
    }
    let end = if text.ends_with('\n') { "\n" } else { "" };
    format!("{}{end}", lines.join("\n"))
}

#[test]
fn what_differs_is_blotted_out_and_nothing_else() {
    let seen = "[   1.23s] ✓ 20261115T081523Z-cluster-0beF at 2026-11-15T08:15:23.5Z 10.244.0.0/16 \
                v1.36.3 365 days left 08:15:23.123 {\"seconds\": 0.25} 12.5s\n  step  0.31s  ━━━━\n";
    let wanted = "[   0.00s] ✓ 20260101T000000Z-cluster-0000 at 2026-01-01T00:00:00Z 10.244.0.0/16 \
                  v1.36.3 NNN days left 00:00:00.000 {\"seconds\": 0} 0.00s\n  step  0.00s  ━\n";
    assert_eq!(text(seen), wanted);
}
