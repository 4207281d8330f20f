# The app with its models, and PyTorch without CUDA. docs/operating.md says how to build and run it.
FROM python:3.11-slim-bookworm AS packages

RUN apt-get update && apt-get install --yes --no-install-recommends binutils
COPY requirements.lock .
COPY cloud/requirements.txt cloud/
# All but torch comes from the lock file and is compared with its hashes; then torch is all that is missing. What the app never loads is left out: headers, tests, names for debuggers, and parts for notebooks and for storage in
# a cloud. Bytecode comes below, for what the app imports.
RUN python3 -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --no-compile --no-deps --require-hashes --requirement requirements.lock \
    && /venv/bin/pip install --no-cache-dir --no-compile --requirement cloud/requirements.txt \
    && cd /venv/lib/python3.11/site-packages \
    && rm -r torch/test torch/include torch/share pyarrow/include plotly/labextension pydeck/nbextension \
    && rm pyarrow/*flight*.so* pyarrow/*substrait*.so* pyarrow/*s3*.so* \
    && find torch/bin -type f ! -name torch_shm_manager -delete \
    && find . -type d -name tests -prune -exec rm -r {} + \
    && strip --strip-unneeded torch/lib/*.so \
    && /venv/bin/pip uninstall --yes --quiet pip

FROM python:3.11-slim-bookworm

WORKDIR /app
ENV PATH=/venv/bin:$PATH
COPY --from=packages /venv /venv
COPY . .
# A run and a page show that the image works. They also write what the server may not write later: the bytecode of what
# the app imports, and plotly.js in static/.
RUN python -m specviz run --target wren-base --draft wren-nano --prompt "Once upon a time" --max-new-tokens 8 \
    && python -c "from streamlit.testing.v1 import AppTest; assert not AppTest.from_file('app.py').run(timeout=60).exception" \
    && mkdir /data && chown 10001:10001 /data

# Nothing is downloaded, and one job takes five minutes at most: docker run -e changes it.
ENV HOME=/data SPECVIZ_RUNS=/data/runs HF_HOME=/data/huggingface SPECVIZ_MODELS=bundled SPECVIZ_JOB_SECONDS=300
USER 10001:10001
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=9)"
CMD ["python", "-m", "streamlit", "run", "serve.py", "--server.address", "0.0.0.0", "--server.port", "8501"]
