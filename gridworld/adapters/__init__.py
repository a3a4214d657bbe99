"""Vision-language models behind servers, as models that play tasks. Their SDKs are imported on use."""
