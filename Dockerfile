# The HTTP service of one model: docs/how-to/container.md. Nothing here needs BuildKit.
ARG PYTHON=3.13

# The C compiler, which compiles the kernels, stays in this stage.
FROM python:${PYTHON}-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
WORKDIR /source
COPY pyproject.toml CMakeLists.txt README.md LICENSE ./
COPY src src
RUN python -m venv /opt/budgetprune && /opt/budgetprune/bin/pip install --no-cache-dir '.[serve]'

FROM python:${PYTHON}-slim
RUN useradd --system --uid 10001 --no-create-home budgetprune
COPY --from=build /opt/budgetprune /opt/budgetprune
ENV PATH=/opt/budgetprune/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /models
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["budgetprune", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["/models/model.budgetprune"]
