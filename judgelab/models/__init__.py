"""Asking a language model: client, prompts, parsing, the log of answers, the runner."""
