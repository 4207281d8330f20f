"""What everything else is built of: the trace, the settings, and figures made from them. No torch, no Streamlit."""
