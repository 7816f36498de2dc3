//! The size of a model, as far as its name contains it.

/// The size from which a model on the user's own machine follows long instructions, in billions of
/// parameters.
const LARGE: f64 = 14.0;

/// Whether the name says that the model is too small for long instructions: `llama3.1:8b`.
pub(crate) fn is_small(model: &str) -> bool {
    billions(model).is_some_and(|it| it < LARGE)
}

/// The billions of parameters that a model's name states: 8 for `llama3.1:8b`, 56 for
/// `mixtral-8x7b`, 0.27 for `gemma3:270m`.
fn billions(model: &str) -> Option<f64> {
    let name = model.to_lowercase();
    let parts = name.split(|it: char| !(it.is_alphanumeric() || it == '.'));
    let sizes = parts.filter_map(|part| {
        let (number, unit) = match (part.strip_suffix('b'), part.strip_suffix('m')) {
            (Some(number), _) => (number, 1.0),
            (None, Some(number)) => (number, 0.001),
            (None, None) => return None,
        };
        let (experts, size) = number.split_once('x').unwrap_or(("1", number));
        Some(experts.parse::<f64>().ok()? * size.parse::<f64>().ok()? * unit)
    });
    sizes.filter(|it| it.is_finite()).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_read_from_the_models_name() {
        let check = |name: &str, expected: Option<f64>| assert_eq!(billions(name), expected, "{name}");
        check("llama3.1:8b", Some(8.0));
        check("Qwen/Qwen2.5-7B-Instruct-GGUF", Some(7.0));
        check("mixtral-8x7b", Some(56.0));
        check("gemma3:270m", Some(0.27));
        check("qwen2.5:1.5b-instruct-q4_K_M", Some(1.5));
        check("qwen3-30b-a3b", Some(30.0));
        check("llama3.2", None);
        check("default", None);
        check("phi-4-club", None);
    }

    #[test]
    fn models_under_14_billion_parameters_are_small() {
        assert!(is_small("llama3.1:8b") && is_small("gemma3:270m"));
        assert!(!is_small("qwen2.5:14b") && !is_small("gpt-oss-120b") && !is_small("llama3.2"));
    }
}
