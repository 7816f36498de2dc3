//! The view of a participant: the turns it is shown, fitted to its model's window by the context
//! strategy.

use std::sync::Arc;

use crate::{
    call::{
        Message,
        quoting::quoted_lines,
        tokens::{self, Family},
    },
    floor::{
        ask::{Ask, Hears},
        selection::{Rooms, SelectedTurns, Unfit, select_turns},
        window::{FENCE, Window},
    },
    model::{
        id::Step,
        mask::Mask,
        mention::plain,
        state::State,
        time::Timestamp,
        transcript::{Bill, Finish, Turn},
    },
    registry::SumUp,
    vocabulary::form::Form,
};

/// The messages of one request, and what had to be left out.
pub(crate) struct View {
    pub(crate) system: Arc<str>,
    pub(crate) messages: Vec<Message>,
    /// A short hash of the question, without labels.
    pub(crate) digest: String,
    /// How many turns did not fit.
    pub(crate) unheard: u32,
    /// How many turns are shown only in part.
    pub(crate) shortened: u32,
    /// The size of the whole request, system text included.
    pub(crate) bytes: usize,
    /// The same size in tokens, by our count.
    pub(crate) counted: u64,
    /// The token limit of the answer and the thinking before it.
    pub(crate) max_tokens: u32,
    /// The turns that the strategy wants summarised first.
    pub(crate) sum_up: Option<SumUp>,
    /// How much of the room the talk would take, if that is worth a warning.
    pub(crate) tight: Option<u32>,
    /// Set if the window has too little room for what has to be shown.
    pub(crate) unfit: Option<Unfit>,
}

/// The author of users' notes, as participants see it. It can't be a seat's name, because those
/// have no spaces.
const OUTSIDE: &str = "a note from outside the table";

impl View {
    /// An upper bound of the request's tokens. With many short turns the fences are the larger
    /// part; emoji have more tokens than other text of as many bytes.
    pub(crate) fn at_worst(&self) -> u64 {
        let fenced = self.messages.iter().filter(|it| !matches!(it, Message::Ask(_)));
        (tokens::at_worst(self.bytes) + FENCE * fenced.count() as u64).max(self.counted)
    }

    /// Inserts the users' notes right before the question.
    pub(crate) fn show(&mut self, state: &State) {
        let question = self.messages.len().saturating_sub(1);
        let remarks = state.notes.iter().cloned();
        let said = remarks.map(|text| Message::Said { own: false, turn: remark(state, text) });
        self.messages.splice(question..question, said);
    }

    /// Inserts findings right before the question.
    pub(crate) fn show_findings(&mut self, findings: Vec<Message>) {
        let question = self.messages.len().saturating_sub(1);
        self.messages.splice(question..question, findings);
    }

    /// The view as it is sent: under these labels. Its size is counted here, because a label may be
    /// longer than the name it masks. `known` has turns that were masked before.
    pub(crate) fn masked(
        self,
        ask: &Ask,
        quoted_forms: &[&'static Form],
        mask: &Mask,
        known: impl Fn(&Arc<Turn>) -> Option<Arc<Turn>>,
    ) -> View {
        let system: Arc<str> = mask.shown(&ask.system).into();
        let masked = |message: Message| match &message {
            Message::Said { turn, own } => match known(turn) {
                Some(turn) => Message::Said { turn, own: *own },
                None => message.masked(mask),
            },
            Message::Found { .. } | Message::Ask(_) => message.masked(mask),
        };
        let messages: Vec<Message> = self.messages.into_iter().map(masked).collect();
        let sizes = messages.iter().map(|it| size(ask, quoted_forms, it));
        let bytes = system.len() + sizes.sum::<usize>();
        View { system, messages, bytes, ..self }
    }
}

/// Findings of sub-discussions that no participant has used, for a decision on the whole talk.
pub(crate) fn findings(ask: &Ask, state: &State) -> Vec<Message> {
    if ask.hears == Hears::Nothing || ask.stretch.is_some() {
        return Vec::new();
    }
    let found =
        |(topic, text): (&str, &str)| Message::Found { topic: topic.to_owned(), text: text.to_owned() };
    state.unused_findings().map(found).collect()
}

/// The tokens that findings take of a window.
pub(crate) fn size_of_findings(findings: &[Message], family: Family) -> u64 {
    findings.iter().map(|it| tokens_of(it, family)).sum()
}

/// The tokens that the users' notes take of a window.
pub(crate) fn size_of_notes(state: &State, family: Family) -> u64 {
    state.notes.iter().map(|text| FENCE + family.estimate(text)).sum()
}

fn remark(state: &State, text: Arc<str>) -> Arc<Turn> {
    let (participant, round, started_at) = (OUTSIDE.to_owned(), state.round, state.last_at);
    Arc::new(Turn { participant, round, started_at, ..aside("note", text) })
}

/// A text that is shown among the turns and that no participant said.
pub(super) fn aside(step: &str, text: Arc<str>) -> Turn {
    Turn {
        step: Step::from(step),
        participant: String::new(),
        round: 0,
        phase: String::new(),
        form: None,
        text,
        prose: None,
        started_at: Timestamp(0),
        duration_ms: 0,
        finish: Finish::Stop,
        bill: Bill::default(),
        model: None,
        answered_by: None,
        reused: false,
    }
}

/// Builds the view of `who`. Its cost depends on the size of the window, not on the length of the
/// discussion.
pub(crate) fn view(who: &str, ask: &Ask, window: &Window<'_>) -> View {
    let family = window.family;
    let asked = family.estimate(&plain(&ask.system))
        + family.estimate(&plain(&ask.prompt))
        + ask.exchange.iter().map(|it| tokens_of(it, family)).sum::<u64>();
    let again = again(ask, window);
    let heard = select_turns(ask, window, Rooms::beside(asked + window.notes + again.size, ask, window));
    let again = if again.after < heard.counted { again } else { Again::default() };
    let hint = hint(&heard, window);
    let hinted = hint.as_ref().map_or(0, |it| family.estimate(it));
    let counted = asked + window.notes + heard.counted + again.size + hinted;
    let prompt = hint.map_or_else(|| ask.prompt.clone(), |hint| format!("{}\n\n{hint}", ask.prompt).into());
    let max_tokens = heard.answer + window.thinking;
    // After a refusal, a request that is no smaller would be refused again.
    let too_large = window.bound.filter(|it| it.total < counted + max_tokens);
    let too_large = too_large.map(|it| Unfit { needed: counted + max_tokens, room: it.total });
    // A judge, a writer and a summariser get no turn as their own.
    let sees_own = ask.mask.is_none() && ask.hears != Hears::ForSynthesis && ask.stretch.is_none();
    let is_own = |turn: &Turn| sees_own && turn.participant == who;
    let said = heard.turns.into_iter().map(|turn| Message::Said { own: is_own(&turn), turn });
    // In a retry the question stands before the failed answer; the current prompt comes last.
    let exchange = again.before(ask.exchange.iter().cloned().chain([Message::Ask(prompt)]).collect());
    View {
        system: ask.system.clone(),
        messages: said.chain(exchange).collect(),
        digest: String::new(),
        unheard: heard.left_out,
        shortened: heard.shortened,
        bytes: 0,
        counted,
        max_tokens: u32::try_from(max_tokens).unwrap_or(u32::MAX),
        sum_up: heard.sum_up,
        tight: heard.tight,
        unfit: heard.unfit.or(too_large),
    }
}

/// The topic, repeated between the talk and the prompt.
#[derive(Default)]
struct Again {
    text: Option<Arc<str>>,
    /// Its size in tokens.
    size: u64,
    /// The talk after which it is repeated, in tokens.
    after: u64,
}

/// The topic as it is repeated, unless all of the talk is too short for that.
fn again(ask: &Ask, window: &Window<'_>) -> Again {
    let talk = window.talk.size(0, window.talk.turns()) + window.summary.map_or(0, |it| it.size);
    let Some(repeated) = ask.repeated.as_ref().filter(|it| it.after < talk) else { return Again::default() };
    let size = window.family.estimate(&plain(&repeated.text));
    Again { text: Some(repeated.text.clone()), size, after: repeated.after }
}

impl Again {
    /// These messages with the topic before the first prompt, which stays there in a retry.
    fn before(self, mut messages: Vec<Message>) -> Vec<Message> {
        let first = messages.iter_mut().find_map(|it| match it {
            Message::Ask(text) => Some(text),
            Message::Said { .. } | Message::Found { .. } => None,
        });
        if let Some((topic, prompt)) = self.text.zip(first) {
            *prompt = format!("{topic}\n\n{prompt}").into();
        }
        messages
    }
}

/// The hint for a participant that its answer must be shorter than usual.
fn hint(heard: &SelectedTurns, window: &Window<'_>) -> Option<String> {
    // About three quarters of a word per token, minus some room to finish the last sentence.
    let words = heard.answer * 3 / 5;
    (heard.answer < window.answer).then(|| {
        format!("Answer in at most {words} words: your context window has no room for a longer answer.")
    })
}

/// The most bytes of a turn as it is shown: where a form is asked for, each line may get a `> `,
/// and else the lines that look like a vote.
fn shown_size(ask: &Ask, quoted_forms: &[&'static Form], text: &str) -> usize {
    let lines = match ask.shape {
        Some(_) => 1 + text.matches('\n').count(),
        None => quoted_lines(text, None, quoted_forms).into_iter().filter(|it| *it).count(),
    };
    text.len() + 2 * lines
}

fn size(ask: &Ask, quoted_forms: &[&'static Form], message: &Message) -> usize {
    match message {
        Message::Said { turn, .. } => shown_size(ask, quoted_forms, &turn.text),
        Message::Found { topic, text } => topic.len() + text.len(),
        Message::Ask(text) => text.len(),
    }
}

fn tokens_of(message: &Message, family: Family) -> u64 {
    match message {
        Message::Said { turn, .. } => FENCE + family.estimate(&turn.text),
        Message::Found { topic, text } => FENCE + family.estimate(topic) + family.estimate(text),
        Message::Ask(text) => family.estimate(&plain(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floor::{lengths::Lengths, window::Weighed};
    use crate::model::{
        event::Summarised, id::Step, mask::Mask, settings::Settings, transcript::sample_turn,
    };
    use crate::{
        floor::ask::{Hears, Stretch},
        registry::{Before, ContextStrategy, Fit, OnOverflow},
    };

    fn turn(participant: &str, round: u32, text: &str) -> Arc<Turn> {
        let step = Step::new(round, "speaking", participant);
        Arc::new(sample_turn(step, (round, "speaking"), participant, text))
    }

    /// Builds the view in a window with this much room, with a strategy as plain as sliding.
    fn shown(
        who: &str,
        transcript: &[Arc<Turn>],
        ask: &Ask,
        room: u64,
        summary: Option<&Summarised>,
    ) -> View {
        let family = Family::Other;
        let mut lengths = Lengths::default();
        transcript.iter().for_each(|turn| lengths.add_turn([family].into_iter(), turn));
        let summary = summary.map(|summary| Weighed { summary, size: summary.tokens(family) });
        view(who, ask, &Window { transcript, summary, ..window(&lengths, room) })
    }

    static SETTINGS: std::sync::LazyLock<Settings> = std::sync::LazyLock::new(Settings::default);

    /// A window with this much room beside an answer of 100 tokens.
    fn window(lengths: &Lengths, room: u64) -> Window<'_> {
        Window {
            family: Family::Other,
            capacity: room + 100,
            bound: None,
            answer: 100,
            thinking: 0,
            ratio: 1.0,
            notes: 0,
            strategy: Some(&PLAIN),
            settings: &SETTINGS,
            seats: &[],
            transcript: &[],
            talk: lengths.talk(Family::Other),
            summary: None,
        }
    }

    const PLAIN: ContextStrategy = ContextStrategy {
        name: "plain",
        summary: "The summary or the first turns, and the newest that fit",
        fit: |talk| {
            let before = if talk.summary.is_some() { Before::Summary } else { Before::FirstTurns };
            Fit { before, room: talk.room, sum_up: None, tight: None }
        },
        options: &[],
        overflow: OnOverflow::NotOffered,
        words: |_, _| Ask::new("", ""),
    };

    fn heard(view: &View) -> Vec<&str> {
        let texts = view.messages.iter().map(|message| match message {
            // Of a shortened turn, the mark alone.
            Message::Said { turn, .. } => turn.text.split_once(" …\n").map_or(&*turn.text, |it| it.1),
            Message::Found { text, .. } => text,
            Message::Ask(text) => text,
        });
        texts.collect()
    }

    fn four() -> [Arc<Turn>; 4] {
        let long = "many words ".repeat(300);
        [turn("ann", 1, "first"), turn("bob", 1, &long), turn("ann", 2, "late"), turn("bob", 2, "last")]
    }

    /// The mark after the beginning of bob's long turn.
    const CUT: &str = "[shortened to fit your context window: about 149 of 662 tokens are shown]";

    #[test]
    fn f18_a_long_turn_is_shortened_and_no_other() {
        let view = shown("ann", &four(), &Ask::new("", "now"), 600, None);
        let cut = "[shortened to fit your context window: about 178 of 662 tokens are shown]";
        assert_eq!(heard(&view), ["first", cut, "late", "last", "now"]);
        assert_eq!((view.unheard, view.shortened, view.unfit), (0, 1, None));
    }

    #[test]
    fn turns_that_are_left_out_are_named() {
        let long = "many words ".repeat(80);
        let turns: Vec<Arc<Turn>> =
            (1..=5).flat_map(|round| [turn("ann", round, &long), turn("bob", round, "no")]).collect();
        let view = shown("ann", &turns, &Ask::new("", "now"), 1_200, None);
        let ann = crate::model::mention::mention("ann");
        let told = format!("Turns that your context window has no room for are not shown: 2 of {ann}.");
        assert_eq!(heard(&view)[0], told);
        assert_eq!((heard(&view).len(), view.unheard, view.shortened), (10, 2, 0));
        let judged = shown("ann", &turns, &Ask::new("", "now").about_every_turn(), 1_360, None);
        assert_eq!((judged.unheard, judged.shortened, judged.unfit), (0, 5, None));
    }

    #[test]
    fn nobody_is_asked_to_judge_what_can_not_be_shown() {
        let view = shown("ann", &four(), &Ask::new("", "now").about_every_turn(), 360, None);
        assert_eq!(view.unfit, Some(Unfit { needed: 369, room: 359 }));
    }

    #[test]
    fn a_refusal_named_more_room_than_the_strategy_uses() {
        const NINE_TENTHS: ContextStrategy =
            ContextStrategy { fit: |talk| Fit { room: talk.room * 9 / 10, ..(PLAIN.fit)(talk) }, ..PLAIN };
        let turns = four();
        let mut lengths = Lengths::default();
        turns.iter().for_each(|turn| lengths.add_turn([Family::Other].into_iter(), turn));
        let window = Window { strategy: Some(&NINE_TENTHS), transcript: &turns, ..window(&lengths, 400) };
        let view = view("ann", &Ask::new("", "now").about_every_turn(), &window);
        assert_eq!(view.unfit, Some(Unfit { needed: 369, room: 359 }));
    }

    #[test]
    fn an_answer_gets_shorter_before_anything_is_cut() {
        let nothing = Lengths::default();
        let view = view("ann", &Ask::new("", "now"), &Window { answer: 2_000, ..window(&nothing, 1_000) });
        assert_eq!(view.max_tokens, 1_067);
        let told = "now\n\nAnswer in at most 640 words: your context window has no room for a longer answer.";
        assert_eq!(heard(&view), [told]);
    }

    #[test]
    fn a_summary_replaces_the_turns_it_covers_and_has_no_speaker() {
        let summary = Summarised { covers: 2, heard: 3, turn: Some(turn("ann", 1, "so far")) };
        let view = shown("ann", &four(), &Ask::new("", "now"), 600, Some(&summary));
        assert_eq!(heard(&view), ["so far", "first", CUT, "late", "last", "now"]);
        assert_eq!((view.unheard, view.shortened), (0, 0), "the summary covers what is not shown");
        assert!(
            matches!(&view.messages[0], Message::Said { own: false, turn } if turn.participant == "summary of turns 1 to 2")
        );
    }

    #[test]
    fn the_summarizer_is_shown_the_last_summary_and_the_turns_since() {
        let summary = Summarised { covers: 1, heard: 2, turn: Some(turn("ann", 1, "so far")) };
        let ask = |from, to| Ask { stretch: Some(Stretch { from, to }), ..Ask::new("", "sum up") };
        let all = shown("ann", &four(), &ask(2, 3), 400, Some(&summary));
        assert_eq!(heard(&all), ["so far", "late", "sum up"]);
        let short = shown("ann", &four(), &ask(0, 3), 600, None);
        assert_eq!(
            heard(&short),
            [
                "first",
                "[shortened to fit your context window: about 427 of 662 tokens are shown]",
                "late",
                "sum up"
            ]
        );
        let cramped = shown("ann", &four(), &ask(0, 3), 300, None);
        assert!(cramped.unfit.is_some(), "a summary covers only what was shown");
    }

    #[test]
    fn inv_disc_012_a_synthesis_hears_by_name_not_by_speed() {
        let transcript =
            [turn("cyd", 1, "c1"), turn("ann", 1, "a1"), turn("bob", 2, "b2"), turn("ann", 2, "a2")];
        let ask = Ask::new("", "now").hearing(Hears::ForSynthesis);
        assert_eq!(heard(&shown("cyd", &transcript, &ask, 100_000, None)), ["a1", "c1", "a2", "b2", "now"]);
    }

    #[test]
    fn inv_disc_012_a_refinement_is_shown_after_its_criticism() {
        let of = |phase: &str, participant: &str, text: &str| {
            let step = Step::new(1, phase, participant);
            Arc::new(sample_turn(step, (1, phase), participant, text))
        };
        let transcript = [
            of("proposing", "bob", "draft 1"),
            of("critiquing", "cyd", "no"),
            of("critiquing", "ann", "why"),
            of("refining", "bob", "draft 2"),
            turn("cyd", 2, "later"),
        ];
        let ask = Ask::new("", "now").hearing(Hears::ForSynthesis);
        let expected = ["draft 1", "why", "no", "draft 2", "later", "now"];
        assert_eq!(heard(&shown("cyd", &transcript, &ask, 100_000, None)), expected);
    }

    #[test]
    fn a_view_since_a_turn_shows_nothing_before_it() {
        let transcript = four();
        let late = Ask::new("", "now").hearing(Hears::Since(2));
        assert_eq!(heard(&shown("bob", &transcript, &late, 100_000, None)), ["late", "last", "now"]);
        let summary = Summarised { covers: 2, heard: 3, turn: Some(turn("ann", 1, "so far")) };
        assert_eq!(heard(&shown("bob", &transcript, &late, 600, Some(&summary))), ["late", "last", "now"]);
        let long = Ask::new("", "now").hearing(Hears::Since(1)).about_every_turn();
        let view = shown("bob", &transcript, &long, 600, None);
        let cut = "[shortened to fit your context window: about 428 of 662 tokens are shown]";
        assert_eq!(heard(&view), [cut, "late", "last", "now"]);
        assert_eq!((view.unheard, view.shortened, view.unfit), (0, 1, None));
    }

    #[test]
    fn a_masked_view_has_labels_in_their_order_and_no_names() {
        let table = ["ann", "bob"].map(crate::model::participant::Participant::of);
        let labels = [(&table[1], "@KX"), (&table[0], "@QV")];
        let mask = Arc::new(Mask::new(&labels));
        let transcript =
            [turn("ann", 1, "I am Ann"), turn("bob", 1, "no, ANN's wrong"), turn("ann", 2, "annex")];
        let prompt = format!("{}, go on\n> @ann, as ann said\nbob", crate::model::mention::mention("bob"));
        let ask = Ask::new("", prompt).masked(&mask);
        let view = shown("ann", &transcript, &ask, 100_000, None).masked(&ask, &[], &mask, |_| None);
        assert_eq!(
            heard(&view),
            ["no, @QV's wrong", "I am @QV", "annex", "@KX, go on\n> @QV, as @QV said\nbob"]
        );
        assert_eq!(view.bytes, heard(&view).iter().map(|it| it.len()).sum::<usize>());
        let labels: Vec<(&str, bool)> = view
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Said { turn, own } => Some((turn.participant.as_str(), *own)),
                _ => None,
            })
            .collect();
        assert_eq!(labels, [("@KX", false), ("@QV", false), ("@QV", false)]);
    }
}
