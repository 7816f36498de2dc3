//! Tests of masks.

use super::*;
use crate::model::{
    agent::Agent,
    client::{Author, ClientOrder, Utterance},
    spec::tests::order,
};

fn seat(name: &str, provider: &str, model: Option<&str>) -> Participant {
    let model = model.map(str::to_owned);
    Participant { name: name.into(), model, ..Participant::of(provider) }
}

/// Ann is a Claude, bob a Gemini, max a second Claude, Ümit a Taro, and claude-2 judges.
fn seats() -> Vec<Participant> {
    let google = Participant { aliases: vec!["google".into()], ..seat("bob", "gemini", None) };
    vec![
        seat("Ann", "claude", Some("claude-opus-4")),
        google,
        seat("claude-2", "claude", None),
        seat("Ümit", "太郎", None),
        seat("max", "pi", None),
    ]
}

const LABELS: [&str; 5] = ["@KX", "@QV", "@ZJ", "@JQ", "@WQ"];

fn mask() -> Mask {
    Mask::new(&seats().iter().zip(LABELS).collect::<Vec<_>>())
}

fn asking(topic: &str, background: &str) -> Mask {
    let spec = Spec {
        topic: topic.to_owned(),
        background: Some(background.to_owned()),
        participants: seats(),
        ..order()
    };
    let labels = seats().into_iter().zip(LABELS).map(|(who, label)| (label[1..].to_owned(), who.name));
    Mask::of(&spec, &BTreeMap::new(), &labels.collect::<Vec<_>>(), &[])
}

#[track_caller]
fn covers(said: &str, expected: &str) {
    assert_eq!(mask().cover(said), expected);
}

#[track_caller]
fn stays(said: &str) {
    covers(said, said);
}

#[test]
fn names_providers_and_models_are_covered_as_whole_words() {
    covers("ann, ANN's and Anna", "@KX, @KX's and Anna");
    covers("I am claude-opus-4!", "I am @KX!");
    covers("as **Gemini** said", "as **@QV** said");
    covers("by google, googled", "by @QV, googled");
    covers("(bob)", "(@QV)");
    covers("ÜMIT spoke, ümits did not", "@JQ spoke, ümits did not");
    covers("太郎は言った", "@JQは言った");
    covers("As Ann said. But bob, unlike ann/bob", "As @KX said. But @QV, unlike @KX/@QV");
    covers("Ann Bob", "@KX @QV");
    covers("", "");
}

#[test]
fn a_name_after_its_sign_is_always_covered() {
    covers("@bob, @Ann's, @ANNs and @claude-2", "@QV, @KX's, @KXs and @ZJ");
    covers("@max and ＠max, not max", "@WQ and @WQ, not max");
    covers("@google", "@QV");
    stays("mail@bob @bobby @nobody");
    assert_eq!(asking("Is @bob a bob?", "").cover("@bob or bob"), "@QV or bob");
}

#[test]
fn a_provider_of_two_seats_becomes_a_participant_and_a_name_its_seat() {
    covers("claude models agree", "a participant models agree");
    covers("claude-2 judges", "@ZJ judges");
}

#[test]
fn common_words_are_no_names() {
    stays("at most max 3, and pi is 3.14");
}

#[test]
fn an_agent_called_editor_turned_every_editor_of_a_text_into_a_label() {
    let agent = |id: &str, display: &str| {
        let agent = Agent { id: id.into(), display_name: Some(display.into()), ..Agent::default() };
        let aliases = vec!["gemini".to_owned(), display.to_owned()];
        Participant { agent: Some(Arc::new(agent)), aliases, ..seat(id, "gemini", None) }
    };
    let seats =
        [agent("editor", "Editor"), agent("security-reviewer", "Ada"), agent("data-analyst", "Analyst")];
    let mask = Mask::new(&seats.iter().zip(LABELS).collect::<Vec<_>>());
    for text in [
        "Open it in an editor; the Editor of the paper agreed.",
        "As an editor, vim is fine, and the editor I use is old.",
        "An analyst would ask, as analysts do.",
    ] {
        assert_eq!(mask.cover(text), text);
    }
    let covers = |said: &str, expected: &str| assert_eq!(mask.cover(said), expected);
    covers("As the editor, I object. As editor I insist.", "As the @KX, I object. As @KX I insist.");
    covers("I am an Editor, and I'm the analyst.", "I am an @KX, and I'm the @ZJ.");
    covers("Ada, the editor, I say", "@QV, the @KX, I say");
    covers("@editor and [editor:2], or security-reviewer", "@KX and [KX:2], or @QV");
    covers("Speaking as your editor: no.", "Speaking as your @KX: no.");
}

/// A seat of an agent with this id, display name and role.
fn agent(id: &str, display: &str, role: &str) -> Participant {
    let (display_name, role) = (Some(display.to_owned()), Some(role.to_owned()));
    let agent = Agent { id: id.into(), display_name, role, ..Agent::default() };
    let aliases = vec!["gemini".to_owned(), display.to_owned()];
    Participant { agent: Some(Arc::new(agent)), aliases, ..seat(id, "gemini", None) }
}

#[test]
fn an_agent_with_an_ordinary_name_stayed_named_at_the_start_of_a_line() {
    let seats = [agent("architect", "Architect", "Architect"), agent("editor", "Eve", "Editor")];
    let mask = Mask::new(&seats.iter().zip(LABELS).collect::<Vec<_>>());
    let covers = |said: &str, expected: &str| assert_eq!(mask.cover(said), expected);
    covers("**Architect:** I hold it.", "**@KX:** I hold it.");
    covers("Architect: I hold it.\nEditor: No.", "@KX: I hold it.\n@QV: No.");
    covers("> **The Architect**: I hold it.", "> **The @KX**: I hold it.");
    covers("# Architect\n\nI hold it.", "# @KX\n\nI hold it.");
    covers("Architect here. I hold it.", "@KX here. I hold it.");
    covers("Hello, architect here: no.", "Hello, @KX here: no.");
    covers("I hold it.\n\n— Architect", "I hold it.\n\n— @KX");
    covers("I hold it.\n— Eve, the editor", "I hold it.\n— @QV, the @QV");
    covers("## The Architect's view\n\nIt holds.", "## The @KX's view\n\nIt holds.");
    covers("[Architect] It holds. [Architect](x)", "[@KX] It holds. [Architect](x)");
    covers("Eve (editor): No.", "@QV (@QV): No.");
    covers("**Architect** — I hold it.", "**@KX** — I hold it.");
    covers("It holds. Signed, the architect", "It holds. Signed, the @KX");
    covers("This is the architect speaking.", "This is the @KX speaking.");
    covers("This is the **architect** speaking.", "This is the **@KX** speaking.");
    covers("Here this is the **architect**, and I hold it.", "Here this is the **@KX**, and I hold it.");
    covers("My role as architect is to ask.", "My role as @KX is to ask.");
    covers("I, the architect, hold it.", "I, the @KX, hold it.");
    covers("As the **architect**, I hold it.", "As the **@KX**, I hold it.");
    covers("As the architect, my concern is cost.", "As the @KX, my concern is cost.");
    covers("As the architect and the editor, I hold it.", "As the @KX and the @QV, I hold it.");
}

#[test]
fn an_ordinary_word_stays_where_no_speaker_calls_itself_that() {
    let seats = [agent("architect", "Architect", "Architect"), agent("editor", "Eve", "Editor")];
    let mask = Mask::new(&seats.iter().zip(LABELS).collect::<Vec<_>>());
    for text in [
        "Architect",
        "An architect designs, and the architect decides: both are needed.",
        "The architect of the house here said: no.",
        "The editor here is old, and this is the editor we use.",
        "The editor here, vim, is old.",
        "Editor *here* means vim.",
        "This is an editor for images.",
        "As an editor, my favourite is vim.",
        "Between vim and the editor I use, the editor wins.",
        "As the architect and the editor agree, we go. As an architect and a friend, she said so.",
        "Use an editor:\nvim or another editor.",
        "Architects: many. The role as architect is hard.",
        "| Architect | Editor |",
        "The architect's job is hard, and the editor's view:",
        "Who signed? The architect did.",
    ] {
        assert_eq!(mask.cover(text), text);
    }
}

#[test]
fn an_agents_role_in_its_profile_stayed_visible_where_it_called_itself_that() {
    let seats = [
        agent("sec-reviewer", "Ada Prufer", "Security engineer"),
        agent("analyst", "Bea", "claude"),
        seat("claude", "claude", None),
    ];
    let mask = Mask::new(&seats.iter().zip(LABELS).collect::<Vec<_>>());
    let covers = |said: &str, expected: &str| assert_eq!(mask.cover(said), expected);
    covers(
        "As Ada Prufer, the sec-reviewer and security engineer, I say no.",
        "As @KX, the @KX and @KX, I say no.",
    );
    covers("As a Security Engineer, I object.", "As a @KX, I object.");
    covers("**Security engineer:** No.", "**@KX:** No.");
    let ordinary = "Ask a security engineer, and the security engineer decides.";
    covers(ordinary, ordinary);
    covers("claude agrees", "@ZJ agrees");
    // Two agents of one role: the words don't say which of them is meant.
    let two = [agent("one", "Eve", "Security engineer"), agent("two", "Bea", "Security engineer")];
    let mask = Mask::new(&two.iter().zip(LABELS).collect::<Vec<_>>());
    assert_eq!(mask.cover("Security engineer: No."), "a participant: No.");
}

#[test]
fn a_text_of_a_past_discussion_kept_names_after_their_sign_and_exact_models() {
    let seats = vec![agent("sec-reviewer", "Ada", "Reviewer"), agent("architect", "Architect", "Architect")];
    let spec = Spec { participants: [seats, two_models()].concat(), ..order() };
    let models = [("Ann".to_owned(), "westa-1".to_owned())].into();
    let mask = Mask::numbered(&spec, &models);
    assert_eq!(
        mask.cover("as @sec-reviewer, @bob and Ann showed; @google and westa-1 said so [architect:2, Ann:1]"),
        "as participant 1, participant 4 and participant 3 showed; participant 4 and participant 3 said so \
         [participant 2:2, participant 3:1]"
    );
    assert_eq!(Mask::numbered(&spec, &BTreeMap::new()).cover("westa-1"), "westa-1");
}

/// Two seats without agents.
fn two_models() -> Vec<Participant> {
    seats().into_iter().take(2).collect()
}

#[test]
fn words_of_the_question_are_left_alone() {
    let mask = asking("Is Gemini a star sign?", "bob is a haircut, @claude-2");
    assert_eq!(mask.cover("Gemini, bob, google, ann"), "Gemini, bob, @QV, @KX");
    assert_eq!(
        mask.shown("Ask @claude-2 and @bob.\n> ann, @claude-2"),
        "Ask @claude-2 and @QV.\n> @KX, @claude-2"
    );
}

#[test]
fn words_of_a_clients_conversation_became_labels() {
    let said = |by, text: &str| Utterance { by, text: text.to_owned() };
    let client = ClientOrder {
        instructions: Some("You support users of claude-2.".to_owned()),
        conversation: vec![
            said(Author::User, "Which library calls gemini?"),
            said(Author::Assistant, "ann says the one by google."),
        ],
        ..ClientOrder::default()
    };
    let spec = Spec { client: Some(client), participants: seats(), ..order() };
    let labels = seats().into_iter().zip(LABELS).map(|(who, label)| (label[1..].to_owned(), who.name));
    let mask = Mask::of(&spec, &BTreeMap::new(), &labels.collect::<Vec<_>>(), &[]);
    assert_eq!(
        mask.shown("> Which library calls gemini?\n> ann says the one by google."),
        "> Which library calls gemini?\n> @KX says the one by @QV."
    );
    assert_eq!(mask.cover("claude-2 and gemini fit, as bob said"), "claude-2 and gemini fit, as @QV said");
}

#[test]
fn product_names_are_left_alone() {
    stays("On Google Cloud and with Gemini Code Assist");
    stays("the Vertex Gemini API, Google Gemini");
    stays("Google Gemini is one");
    stays("see gemini.google.com, google/gemma or gemini-cli, and non-google tools");
    covers("Yes. Google is one", "Yes. @QV is one");
    covers("So Gemini is wrong, and I think Gemini I mean", "So @QV is wrong, and I think @QV I mean");
    covers("Ask google.", "Ask @QV.");
}

#[test]
fn products_with_japanese_names_are_not_torn_apart() {
    stays("GoogleクラウドとGoogle Cloudの違いは、Googleマップで分かります");
    covers("Geminiの案はGoogle案よりよい", "@QVの案は@QV案よりよい");
    covers("Claude-2は検索を、Annは翻訳を選んだ", "@ZJは検索を、@KXは翻訳を選んだ");
}

#[test]
fn a_name_beside_a_capitalised_noun_stayed_visible_in_german() {
    let mask = asking("Sollten wir auf Kubernetes umsteigen?", "");
    let covers = |said: &str, expected: &str| assert_eq!(mask.cover(said), expected);
    covers(
        "Der Vorschlag Gemini überzeugt, das Modell Claude-2 nicht",
        "Der Vorschlag @QV überzeugt, das Modell @ZJ nicht",
    );
    covers("Laut Gemini Argument und mit Google Begründung", "Laut @QV Argument und mit @QV Begründung");
    covers("Dem Punkt Ann stimme ich zu. Gemini Fehler", "Dem Punkt @KX stimme ich zu. @QV Fehler");
    for product in [
        "In der Google Cloud und mit Gemini Code Assist",
        "die Gemini API, Google DeepMind und Google Gemini",
        "Auf Vertex Gemini",
        "siehe gemini.google.com oder gemini-cli",
    ] {
        covers(product, product);
    }
    let english = asking("Should we move to Kubernetes?", "");
    assert_eq!(
        english.cover("with Gemini Argument"),
        "with Gemini Argument",
        "there, a capital marks a name"
    );
}

#[test]
fn citations_have_labels_without_signs() {
    covers("so [Ann:2] and [bob:1, claude-2:3; all].", "so [KX:2] and [QV:1, ZJ:3, all].");
    covers("[max:1] [@bob:2]", "[WQ:1] [QV:2]");
    stays("[max] [1] [see the notes: 2]");
}

#[track_caller]
fn reveals(said: &str, expected: &str) {
    assert_eq!(mask().reveal(said), expected);
    // However it arrives, nothing else is ever shown.
    let characters: Vec<char> = said.chars().collect();
    for size in 1..6 {
        let (mut revealed, mut arrived, mut shown) = (Revealed::default(), String::new(), String::new());
        for piece in characters.chunks(size) {
            arrived.extend(piece);
            shown += revealed.push(&mask(), "", &arrived, false);
            assert!(expected.starts_with(&shown), "{shown} of {expected}");
        }
        shown += revealed.push(&mask(), "", &arrived, true);
        assert_eq!(shown, expected, "in pieces of {size}");
    }
}

#[test]
fn labels_become_names_with_their_sign() {
    reveals("@KX is right, @qv's not", "@Ann is right, @bob's not");
    reveals("@KXs Argument, (@KX), **@KX**, @KX.", "@Anns Argument, (@Ann), **@Ann**, @Ann.");
    reveals("@KXは言った。＠QVも", "@Annは言った。@bobも");
    reveals("@KXY, @K, @, a@KX, KX, kx, @XX", "@KXY, @K, @, a@KX, KX, kx, @XX");
    reveals("as said by @KX", "as said by @Ann");
    reveals("as said by @KXs", "as said by @Anns");
    reveals("as said by @K", "as said by @K");
    reveals("", "");
}

#[test]
fn citations_in_all_spellings_become_names() {
    reveals("so. [KX:2]", "so. [Ann:2]");
    reveals("[@KX:2] [KX 2] [kx: 2] [KX：2]", "[Ann:2] [Ann:2] [Ann:2] [Ann:2]");
    reveals("[KX:2, QV:1] [KX:2,QV:1] [KX:2; all]", "[Ann:2, bob:1] [Ann:2, bob:1] [Ann:2, all]");
    reveals("［KX:2］ 【QV:1、KX:2】", "[Ann:2] [bob:1, Ann:2]");
    reveals("[KX:2-3] [KX round 2] [all, KX:1] [KX:2, XX:1]", "[Ann:2-3] [Ann:2] [all, Ann:1] [Ann:2, XX:1]");
    reveals("[KX] [XX:2] [all] [R1] [1] [K", "[KX] [XX:2] [all] [R1] [1] [K");
    reveals("[see @KX] [a link](x) [KX:2", "[see @Ann] [a link](x) [KX:2");
    reveals("[KX\n:2] [KX:two]", "[KX\n:2] [KX:two]");
}

#[test]
fn a_citation_that_began_with_a_followed_discussion_kept_its_labels() {
    reveals("[F1, KX:2] [F1; all, KX:1]", "[F1, Ann:2] [F1, all, Ann:1]");
    reveals("[R1, KX:2] [R12; QV:1] [F12, R1, KX:1]", "[R1, Ann:2] [R12, bob:1] [F12, R1, Ann:1]");
    reveals("[F1] [F] [F1", "[F1] [F] [F1");
    reveals("[F, KX:2] [Fig, KX:2] [G1, KX:2]", "[F, KX:2] [Fig, KX:2] [G1, KX:2]");
}

#[test]
fn what_was_revealed_is_covered_again() {
    for said in ["@KX, @QVs and [KX:2, JQ:1] at once", "@WQ said so [WQ:1]"] {
        assert_eq!(mask().cover(&mask().reveal(said)), said);
    }
}

#[test]
fn at_most_a_few_characters_wait_for_a_label() {
    let mut revealed = Revealed::default();
    let mut push = |said: &str| revealed.push(&mask(), "", said, false).to_owned();
    assert_eq!(push("see [the"), "see [the");
    assert_eq!(push("see [the note, @"), " note, ");
    assert_eq!(push("see [the note, @nobody"), "@nobody");
}

#[test]
fn a_seats_own_nonce_is_removed_from_its_reply() {
    let nonce = "1a2b3c4d";
    let said = "<said-1a2b3c4d by=\"@KX\"> 1A2B3C4D 1a2b1a2b3c4d3c4d </said-1a2b3c4";
    let expected = "<said-… by=\"@Ann\"> … 1a2b…3c4d </said-1a2b3c4";
    assert_eq!(mask().received(said, nonce), expected);
    for size in 1..10 {
        let (mut revealed, mut arrived, mut shown) = (Revealed::default(), String::new(), String::new());
        for piece in said.as_bytes().chunks(size) {
            arrived += std::str::from_utf8(piece).unwrap();
            shown += revealed.push(&mask(), nonce, &arrived, false);
        }
        shown += revealed.push(&mask(), nonce, &arrived, true);
        assert_eq!(shown, expected, "in pieces of {size}");
    }
}

#[test]
fn a_value_that_is_a_label_becomes_the_name_alone() {
    let said = r#"{"a": "@KX", "b": ["kx", "Speaker QV"], "c": "@KX is KX", "d": "Of QV", "KX": "[KX:2]"}"#;
    let expected = r#"{"a": "Ann", "b": ["Ann", "bob"], "c": "@Ann is KX", "d": "Of QV", "Ann": "[Ann:2]"}"#;
    assert_eq!(mask().received_data(said, ""), expected);
}

#[test]
fn a_label_is_known_with_and_without_its_sign() {
    let mask = mask();
    assert_eq!((mask.name(" @kx "), mask.name("QV"), mask.name("XX")), (Some("Ann"), Some("bob"), None));
    assert_eq!((mask.label("Ann"), mask.label("ann")), (Some("@KX"), None));
    assert_eq!(mask.labels()[0], ("KX".to_owned(), "Ann".to_owned()));
    assert_eq!((mask.place("bob"), mask.place("nobody")), (1, usize::MAX));
}

#[test]
fn with_names_nothing_is_covered() {
    let seats = seats();
    let mask = Mask::names(&seats);
    let said = "@Ann and bob [bob:2], @KX";
    assert_eq!(
        (mask.cover(said), mask.reveal(said), mask.shown(said)),
        (said.into(), said.into(), said.into())
    );
    assert_eq!(mask.shown(&mention("Ann")), "Ann");
}

#[test]
fn the_exact_model_of_a_seat_is_covered() {
    let spec = Spec { participants: seats(), ..order() };
    let models = [("bob".to_owned(), "g-3-pro".to_owned())].into();
    let labels = [("QV".to_owned(), "bob".to_owned())];
    assert_eq!(Mask::of(&spec, &models, &labels, &[]).cover("I am g-3-pro"), "I am @QV");
}

#[test]
fn labels_of_older_records_are_words() {
    let pair = |label: &str, name: &str| (label.to_owned(), name.to_owned());
    let labels = [pair("Guest A", "bob"), pair("Guest A 2", "ann"), pair("KX", "cyd"), pair("", "dan")];
    assert_eq!(
        reveal("guest a 2 answered Guest A and KX; Guest AB", &labels),
        "ann answered bob and KX; Guest AB"
    );
    let table = ["ann", "bob"].map(Participant::of);
    let mask = Mask::new(&table.iter().zip(["Debater B", "Debater A"]).collect::<Vec<_>>());
    assert_eq!(
        mask.reveal("debater a beat Debater B; Debater AB did not"),
        "bob beat ann; Debater AB did not"
    );
}
