"""Training the bundled family: data, growing, distilling, logs and cards. Run by hand; the app never imports it."""
