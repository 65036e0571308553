# One image: by itself a trial, and with docker-compose.yml, which sets the command of each, web, worker and beat.
# Debian 12 has the client of PostgreSQL 15, the server in docker-compose.yml, which backup and restore need.
FROM python:3.11.11-slim-bookworm
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PARALLAX_VAR=/var/lib/parallax
RUN apt-get update && apt-get install -y --no-install-recommends fonts-liberation postgresql-client-15 && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /var/lib/parallax parallax \
    && install -d -m 700 -o parallax /backups
WORKDIR /srv/parallax
COPY requirements.txt requirements-bayesian.txt requirements-s3.txt ./
# The virtual environment is in the same place as in a checkout, so that all commands are the same.
RUN python -m venv .venv && .venv/bin/pip install --no-cache-dir -r requirements.txt -r requirements-bayesian.txt -r requirements-s3.txt
ENV PATH=/srv/parallax/.venv/bin:$PATH
COPY . .
RUN .venv/bin/python -m charting.runtime
USER parallax
# Compiled kernels are stored with the data; a new volume starts with them.
RUN SECRET_KEY=only-while-the-image-is-being-built DEBUG=0 .venv/bin/python manage.py compile_kernels
EXPOSE 8000
VOLUME /var/lib/parallax
HEALTHCHECK --start-period=5m CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health/', timeout=5)"]
# SQLite, a generated secret key and the account of the demo, all in the volume. `up --host 0.0.0.0` serves it without a demo.
CMD ["python", "manage.py", "demo", "--quick", "--host", "0.0.0.0"]
