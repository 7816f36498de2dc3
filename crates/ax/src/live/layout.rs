//! Lays the screen out in lines: a header, a line for each participant, the agreement, the scores,
//! and the keys.

use quorum::{
    model::{
        command::Command,
        lifecycle::Lifecycle,
        money::{Usage, Usd},
        state::{Spending, State},
    },
    workflow::plan_of,
};

use crate::{
    exit::needed,
    live::{
        columns::{Columns, money},
        screen::{Footer, Keys, PAUSED, Screen},
        steps,
        voice::{FILLS_IN, Voice, colour},
    },
    render::{
        line::{BOLD, DIM, GOOD, Line, PLAIN, WORRY, width},
        markdown,
        scores::ScoreRow,
    },
    terminal::Size,
};

/// A topic too long for the header line is cut, but never below this width; with less room it gets
/// a line of its own.
const LONG_TOPIC: usize = 60;
const WIDEST_BAR: usize = 24;
/// How many rows of scores are shown.
const SCORED: usize = 2;
/// How many bytes of the followed participant's answer are shown.
const FOLLOWED_BYTES: usize = 32 * 1024;

impl Screen {
    /// The lines that fit a terminal of this size, most important first.
    pub(crate) fn lines(&self, size: Size, now: u64) -> Vec<Line> {
        // One row is left free: a block as high as the screen would scroll itself away.
        let room = size.rows.saturating_sub(1).max(1);
        let columns = Columns::of(&self.voices, size.columns, self.state.spec.simulation.is_none());
        let columns = columns.numbered_if(self.footer == Footer::Help);
        let header = self.header(size.columns, now);
        let mut voices: Vec<Line> =
            (0..self.voices.len()).map(|seat| self.status(seat, &columns, now)).collect();
        voices.extend(steps::lines(&self.steps, &self.state, self.active_ms(now), room.saturating_sub(4)));
        let mut after = self.agreement(size.columns);
        after.extend(self.scores());
        let footer = self.footer(size.columns);
        let mut used = header.len() + voices.len();
        let mut fits = |lines: Vec<Line>| {
            let taken = if used + lines.len() <= room { lines } else { Vec::new() };
            used += taken.len();
            taken
        };
        let footer = fits(footer);
        let after = fits(after);
        let rule = fits(vec![Line::of(&"─".repeat(size.columns), DIM)]);
        let focus = self.followed(size.columns, room.saturating_sub(used));
        let all = rule.into_iter().chain(header).chain(voices).chain(after).chain(focus).chain(footer);
        all.take(room).map(|line| line.cut(size.columns)).collect()
    }

    fn status(&self, seat: usize, columns: &Columns, now: u64) -> Line {
        let voice = &self.voices[seat];
        voice.line(seat, self.spending(voice), columns, now)
    }

    /// What a participant cost so far, with an estimate of its call under way.
    fn spending(&self, voice: &Voice) -> Spending {
        let spent = self.state.spending.get(&voice.name).copied().unwrap_or_default();
        let call = self.state.under_way.values().find(|it| it.participant == voice.name);
        let Some((call, written)) = call.zip(voice.tokens_under_way()) else { return spent };
        let cost = call.price.map(|price| price.of(Usage::new(call.counted, written)));
        let unpriced = spent.unpriced || cost.is_none();
        // A voice that is known to be free needs no mark.
        let estimated = spent.estimated || cost.is_some_and(|cost| cost > Usd::ZERO);
        Spending { cost: spent.cost + cost.unwrap_or_default(), unpriced, estimated, ..spent }
    }

    /// The header on one line if the topic fits beside the rest, without the phase if need be; else
    /// on two.
    fn header(&self, columns: usize, now: u64) -> Vec<Line> {
        let spec = &self.state.spec;
        let workflow = plan_of(spec).map(|it| format!("{} {}", it.workflow, it.version));
        let (pattern, bounds) = (workflow.unwrap_or_else(|| spec.pattern.clone()), self.bounds(now));
        let parts = |place: Vec<String>| [std::slice::from_ref(&pattern), &place, &bounds].concat();
        let (full, brief) = (parts(self.place()), parts(self.rounds().into_iter().collect()));
        let topic = Line::of(&format!(" {}", self.state.spec.topic), BOLD);
        let beside = |parts: &[String]| columns.saturating_sub(width(&parts.join(" · ")) + 2);
        let fits = [&full, &brief].into_iter().find(|parts| topic.width() < beside(parts));
        let wide = Some(&brief).filter(|parts| LONG_TOPIC <= beside(parts));
        match fits.or(wide) {
            Some(parts) => {
                let topic = topic.cut(beside(parts) - 1).padded(beside(parts));
                vec![topic.and(&parts.join(" · "), PLAIN)]
            }
            None => {
                let fits = width(&full.join(" · ")) < columns;
                vec![topic.cut(columns), fitting(if fits { &full } else { &brief }, columns)]
            }
        }
    }

    /// The round and the phase or state.
    fn place(&self) -> Vec<String> {
        let State { lifecycle, phase, pending, .. } = &self.state;
        let stands = match (lifecycle, pending) {
            (Lifecycle::Paused, _) => "paused".to_owned(),
            (Lifecycle::Running, Some(Command::Pause)) => "pausing".to_owned(),
            (Lifecycle::Running, Some(Command::Stop)) => "stopping".to_owned(),
            (Lifecycle::Running, _) => phase.as_deref().unwrap_or("starting").replace('-', " "),
            (Lifecycle::Completing, _) => "deciding".to_owned(),
            (other, _) if other.is_terminal() => other.to_string(),
            _ => "starting".to_owned(),
        };
        self.rounds().into_iter().chain([stands]).collect()
    }

    fn rounds(&self) -> Option<String> {
        let State { round, spec, .. } = &self.state;
        let most = self.progress.registry().most_rounds(spec);
        let of = if *round <= most { format!("/{most}") } else { String::new() };
        (0 < *round && spec.plan.is_none()).then(|| format!("round {round}{of}"))
    }

    /// The time and money spent so far, with their limits.
    fn bounds(&self, now: u64) -> Vec<String> {
        let spec = &self.state.spec;
        let time = format!("{}/{}", clock(self.active_ms(now)), clock(spec.timing.total_ms));
        if spec.simulation.is_some() {
            return vec![time, "simulated".to_owned()];
        }
        let seats: Vec<Spending> = self.voices.iter().map(|it| self.spending(it)).collect();
        let is_seat = |name: &String| self.voices.iter().any(|it| it.name == *name);
        let others = self.state.spending.iter().filter(|(name, _)| !is_seat(name)).map(|(_, it)| *it);
        let shares: Vec<Spending> = seats.into_iter().chain(others).collect();
        let cost = shares.iter().fold(Usd::ZERO, |sum, it| sum + it.cost);
        let is = |has: fn(&Spending) -> bool| shares.iter().any(has);
        let below = self.state.subs.values().filter_map(|sub| sub.end.as_ref()).map(|end| end.spent.usd);
        let cost = below.fold(cost, |sum, it| sum + it);
        let most = spec.limits.usd.map(|it| format!("/{}", money(it.dollars()))).unwrap_or_default();
        let about = if is(|it| it.estimated) { "≈" } else { "" };
        let price = match (is(|it| it.unpriced), cost) {
            (true, Usd::ZERO) => format!("unpriced{most}"),
            (true, cost) => format!("{about}{}{most} + unpriced", money(cost.dollars())),
            (false, cost) => format!("{about}{}{most}", money(cost.dollars())),
        };
        vec![time, price]
    }

    fn agreement(&self, columns: usize) -> Vec<Line> {
        let Some(last) = self.agreement.last() else { return Vec::new() };
        let need = needed(self.progress.registry(), &self.state);
        let needs = need.map(|it| format!(" (need {it:.2})")).unwrap_or_default();
        let figures = format!(" {:.2}{needs}", last.agreement);
        let history: Vec<String> =
            self.agreement.iter().map(|it| format!("R{} {:.2}", it.round, it.agreement)).collect();
        let room = columns.saturating_sub(" agreement ▕▏".chars().count() + figures.len() + 1);
        let style = if need.unwrap_or(1.0) <= last.agreement { GOOD } else { WORRY };
        let bar = bar(last.agreement, need, room.min(WIDEST_BAR));
        let bar =
            Line::of(" agreement ", PLAIN).and("▕", DIM).and(&bar, style).and("▏", DIM).and(&figures, PLAIN);
        let rest = columns.saturating_sub(bar.width() + 2);
        vec![bar.and("  ", PLAIN).and(&latest(&history, rest), DIM)]
    }

    fn scores(&self) -> Vec<Line> {
        let shown = self.scores.len().saturating_sub(SCORED);
        let row = |it: &ScoreRow| Line::of(&format!(" {} ", it.label), PLAIN).then(it.line());
        self.scores[shown..].iter().map(row).collect()
    }

    fn footer(&self, columns: usize) -> Vec<Line> {
        let seats = self.voices.len().min(9);
        let text = match &self.footer {
            Footer::Absent => return Vec::new(),
            Footer::Hint if self.is_held_here() => PAUSED.to_owned(),
            Footer::Hint => "? keys".to_owned(),
            Footer::Help => {
                let pause = if self.is_paused() { "resume" } else { "pause" };
                let (end, leave) = match self.keys {
                    _ if self.is_paused() => ("conclude with what was said", "leave it paused"),
                    Keys::Discussion => ("stop and conclude", "leave · Ctrl-C stop, abort"),
                    Keys::Watched => ("stop and conclude", "leave it running"),
                    Keys::Replay => ("skip to the end", "leave"),
                };
                let follow =
                    if seats == 0 { String::new() } else { format!("1-{seats} follow one · Tab all · ") };
                format!("p {pause} · s {end} · {follow}q {leave} · ? hide")
            }
            Footer::Notice(text) => text.clone(),
        };
        packed(&text, columns.saturating_sub(1))
            .into_iter()
            .map(|row| Line::of(" ", PLAIN).then(row))
            .collect()
    }

    /// The followed participant's reply, or as much of its end as there is room for.
    fn followed(&self, columns: usize, room: usize) -> Vec<Line> {
        let Some((seat, voice)) = self.focus.and_then(|seat| Some((seat, self.voices.get(seat)?))) else {
            return Vec::new();
        };
        let text = &*voice.text;
        let start = text.ceil_char_boundary(text.len().saturating_sub(FOLLOWED_BYTES));
        let head = Line::of(&format!(" {} ", voice.name), colour(seat).bold());
        let head = head.and(&"─".repeat(columns.saturating_sub(width(&voice.name) + 3)), DIM);
        let body = markdown::lines(&text[start..], columns.saturating_sub(3));
        let body = body.into_iter().map(|line| Line::of("  ", PLAIN).then(line));
        let lines: Vec<Line> = body.collect();
        let from = lines.len().saturating_sub(room.saturating_sub(1));
        let silent = if voice.is_form() { FILLS_IN } else { "nothing yet" };
        let silent = lines.is_empty().then(|| Line::of(&format!("  {silent}"), DIM));
        [head].into_iter().chain(lines.into_iter().skip(from)).chain(silent).take(room).collect()
    }
}

/// Packs the parts between dots into rows. Only a part longer than a row is broken.
fn packed(text: &str, columns: usize) -> Vec<Line> {
    let mut rows: Vec<String> = Vec::new();
    for part in text.split(" · ") {
        match rows.last_mut() {
            Some(row) if width(row) + 3 + width(part) <= columns => *row += &format!(" · {part}"),
            Some(_) | None => rows.push(part.to_owned()),
        }
    }
    rows.iter().flat_map(|row| Line::of(row, DIM).wrapped(columns)).collect()
}

/// As many of these parts as fit.
fn fitting(parts: &[String], columns: usize) -> Line {
    let mut line = Line::of(" ", PLAIN);
    for (at, part) in parts.iter().enumerate() {
        let next = line.clone().and(if at == 0 { "" } else { " · " }, PLAIN).and(part, PLAIN);
        line = if next.width() <= columns || at == 0 { next } else { line };
    }
    line
}

/// `0:47`, `1:02:03`.
pub(super) fn clock(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours == 0 { format!("{minutes}:{seconds:02}") } else { format!("{hours}:{minutes:02}:{seconds:02}") }
}

/// A bar in eighths of a column, with a mark at the needed share, if there is one.
fn bar(share: f64, need: Option<f64>, columns: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let filled = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    let mark = need.map(|it| ((it.clamp(0.0, 1.0) * columns as f64).ceil() as usize).saturating_sub(1));
    let cell = |at: usize| match filled.saturating_sub(at * 8) {
        8.. => '█',
        0 if Some(at) == mark => '┊',
        eighths => EIGHTHS[eighths],
    };
    (0..columns).map(cell).collect()
}

/// The latest of these that fit.
fn latest(history: &[String], room: usize) -> String {
    let fitting = (0..history.len()).map(|from| history[from..].join(" → ")).find(|it| width(it) <= room);
    if history.len() < 2 { String::new() } else { fitting.unwrap_or_default() }
}
