//! Words that occur beside a vendor's name in the names of products.

/// The words, in lower case. *Google Cloud* is a product; *Google Vorschlag* is a vendor and a
/// German noun.
const PRODUCT_WORDS: &[&str] = &[
    "ads",
    "advanced",
    "android",
    "assist",
    "assistant",
    "analytics",
    "bard",
    "bedrock",
    "books",
    "chat",
    "chrome",
    "cli",
    "cloud",
    "code",
    "codex",
    "coder",
    "colab",
    "computer",
    "console",
    "copilot",
    "docs",
    "drive",
    "earth",
    "engine",
    "enterprise",
    "flash",
    "flow",
    "gemma",
    "haiku",
    "home",
    "instant",
    "instruct",
    "kubernetes",
    "large",
    "live",
    "mail",
    "maps",
    "maverick",
    "max",
    "medium",
    "meet",
    "mini",
    "nano",
    "next",
    "nova",
    "omni",
    "opus",
    "pay",
    "pixel",
    "platform",
    "play",
    "plus",
    "pro",
    "scholar",
    "scout",
    "search",
    "sheets",
    "small",
    "sonnet",
    "studio",
    "tensor",
    "thinking",
    "translate",
    "turbo",
    "ultra",
    "vertex",
    "vision",
    "voice",
    "wallet",
    "workspace",
];

/// The same in Japanese, where they follow the name without a space. Other nouns do so as well
/// (*Gemini案*), so only these make a product's name.
const JAPANESE_PRODUCT_WORDS: &[&str] = &[
    "アシスタント",
    "アナリティクス",
    "カレンダー",
    "クラウド",
    "クローム",
    "コード",
    "スプレッドシート",
    "ドキュメント",
    "ドライブ",
    "フォト",
    "マップ",
    "検索",
    "翻訳",
];

/// Whether the text after a vendor's name makes it a product's name in Japanese.
pub(super) fn begins_with_product_word(after: &str) -> bool {
    JAPANESE_PRODUCT_WORDS.iter().any(|it| after.starts_with(it))
}

/// Whether a word beside a vendor's name makes a product's name: one of the list, or a word with
/// capitals or digits inside, like *API* and *DeepMind*.
pub(super) fn is_product_word(word: &str) -> bool {
    let has_more = word.chars().skip(1).any(|it| it.is_uppercase() || it.is_ascii_digit());
    has_more || PRODUCT_WORDS.contains(&word.to_lowercase().as_str())
}
