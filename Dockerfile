# The app for a class, on a CPU: `docker build -t bertviz .`; on an NVIDIA GPU: `--build-arg TORCH=cu130`. docs/deploy.md says more.
FROM python:3.11-slim-bookworm

# The build of PyTorch: cpu, or CUDA's version as PyTorch names it
ARG TORCH=cpu

# As many hosts do, 1000 is the user that runs the app; all that it writes is in /data.
RUN useradd --uid 1000 --create-home bertviz && install -d -o bertviz -g bertviz -m 0700 /data
WORKDIR /opt/bertviz

COPY requirements.txt ./
RUN pip install --no-cache-dir --extra-index-url "https://download.pytorch.org/whl/${TORCH}" -r requirements.txt

COPY LICENSE app.py ./
COPY .streamlit .streamlit
COPY bertviz_core bertviz_core
COPY pages pages
RUN python -m compileall -q app.py bertviz_core pages

USER bertviz
VOLUME /data
ENV BERTVIZ_PUBLIC=1 \
    BERTVIZ_STORE=/data/store \
    HF_HOME=/data/hub \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501 \
    STREAMLIT_SERVER_HEADLESS=true \
    STREAMLIT_SERVER_ALLOWED_HOSTS="*" \
    STREAMLIT_SERVER_MAX_MESSAGE_SIZE=10
EXPOSE 8501
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://localhost:8501/_stcore/health')"]
CMD ["streamlit", "run", "app.py"]
