"""The arithmetic of the worksheet: its model, what was measured, and exercises. No Streamlit."""
