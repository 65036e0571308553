"""Settings: embedded (SQLite, filesystem broker) unless the environment names PostgreSQL and Redis.

Every variable is listed in docs/reference/settings.md.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

import django_stubs_ext
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _
from kombu import Exchange, Queue

from charting.render import STYLE_HASHES
from parallax.catalogues import compiled_catalogues
from parallax.env import (
    BUCKET,
    LOCAL_HOSTS,
    bucket_options,
    env_bool,
    env_bytes,
    env_choice,
    env_database,
    env_int,
    env_key,
    env_list,
    env_redis,
    env_secret,
    env_site,
    env_str,
    is_public,
    single_sign_on,
    storages_in,
)

django_stubs_ext.monkeypatch()  # lets ModelForm[Study] and the like be written for the type checker

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env_str("PARALLAX_VAR", str(BASE_DIR / "var"))).resolve()
os.umask(0o077)  # answers, letters and logs are for this account alone
try:
    _brokers = (f"broker/{_folder}" for _folder in ("messages", "processed", "control"))
    for _folder in ("artefacts", *_brokers, "mail", "media", "numba", "tmp"):
        (VAR_DIR / _folder).mkdir(parents=True, exist_ok=True)
except OSError as _problem:
    raise ImproperlyConfigured(
        f"The folder {VAR_DIR} cannot be written: {_problem.strerror}. Set PARALLAX_VAR to a folder that this account "
        "may write."
    ) from _problem
if VAR_DIR.stat().st_mode & 0o077 and VAR_DIR.stat().st_uid == os.getuid():
    VAR_DIR.chmod(0o700)  # made before folders were private; parallax.W001 tells where this account may not

# Compiled kernels are kept here; numba reads the variable when it is first imported.
os.environ.setdefault("NUMBA_CACHE_DIR", str(VAR_DIR / "numba"))
# The filesystem broker writes a message beside its folder and renames it: both have to be on one file system.
tempfile.tempdir = str(VAR_DIR / "tmp")


def _kept_secret() -> str:
    """Make a secret on the first start and keep it, readable by this account alone."""
    file = VAR_DIR / "secret_key"
    try:
        # Created exclusively: of two processes at the first start one makes the key, and both read the same.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return file.read_text()
    with os.fdopen(descriptor, "w") as new:
        new.write(secrets.token_urlsafe(48))
    return file.read_text()


DEBUG = env_bool("DEBUG", default=False)
SECRET_KEY = env_key("SECRET_KEY", is_weak_allowed=DEBUG) or _kept_secret()
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", default=list(LOCAL_HOSTS))
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS", default=[])
HTTPS = env_bool("HTTPS", default=False)  # behind a proxy that terminates TLS
TRUSTED_PROXIES = env_int("TRUSTED_PROXIES", default=0)  # in front of the web server, each adding to X-Forwarded-For
WEB_THREADS = env_int("PARALLAX_WEB_THREADS", default=4, minimum=1)  # of each web process; parallax.web sets it

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "axes",
    "csp",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "core",
    "jobs.apps.JobsConfig",
    "accounts.apps.AccountsConfig",
    "catalog.apps.CatalogConfig",
    "evaluation.apps.EvaluationConfig",
    "studies.apps.StudiesConfig",
    "analysis.apps.AnalysisConfig",
    "parallax.replication.apps.ReplicationConfig",
    "parallax.webhooks.apps.WebhooksConfig",
    "parallax.apps.ParallaxConfig",
]

MIDDLEWARE = [
    "parallax.security_events.SecurityLog",
    "parallax.metrics.RequestMetrics",
    # Above everything that reads the database, so that the whole request is tried again.
    "parallax.outages.RetryLostConnection",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    # No LocaleMiddleware: the console speaks English, and participants' pages choose their language themselves.
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "parallax.sign_in.IdleSignOut",
    # A page is closed unless it says otherwise: participant pages and sign-in are marked one by one.
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "parallax.sign_in.RequireSecondFactor",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "parallax.urls"
WSGI_APPLICATION = "parallax.wsgi.application"
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"  # fields by templates/django/forms/field.html
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000  # each text of a long questionnaire in each language is a field
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["parallax.templatetags.page_parts"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES = {"default": env_database("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'parallax.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # In SQLite's own deferred mode a transaction that reads and then writes fails when another writer came
    # between; taking the write lock at the start makes it wait instead.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        # FULL: what was answered survives a power cut, for 4 ms of each save (benchmarks/sqlite_saves.py).
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
    # Tests write from several threads and processes too, so theirs is a file as well.
    DATABASES["default"]["TEST"] = {"NAME": VAR_DIR / "test.sqlite3"}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env_redis("REDIS_URL")
CACHES = {
    "default": (
        {"BACKEND": "parallax.cache.RedisOrLocalCache", "LOCATION": REDIS_URL, "KEY_PREFIX": "parallax"}
        if REDIS_URL
        else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    )
}

CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost//"
CELERY_BROKER_TRANSPORT_OPTIONS = (
    # Longer than any message waits for an acknowledgement, which comes before the work begins.
    {"visibility_timeout": 600}
    if REDIS_URL
    else {
        "data_folder_in": str(VAR_DIR / "broker/messages"),
        "data_folder_out": str(VAR_DIR / "broker/messages"),
        "processed_folder": str(VAR_DIR / "broker/processed"),
        "control_folder": str(VAR_DIR / "broker/control"),
        "polling_interval": 0.1,
    }
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = env_str("PARALLAX_QUEUE", "parallax")
# Work of minutes has a queue of its own, so that exports, reports and sweeps need not wait for it. A worker without
# `-Q` takes both.
LONG_QUEUE = f"{CELERY_TASK_DEFAULT_QUEUE}-long"
CELERY_TASK_QUEUES = [Queue(name, Exchange(name), routing_key=name) for name in (CELERY_TASK_DEFAULT_QUEUE, LONG_QUEUE)]
CELERY_TASK_ROUTES = {"evaluation.work": {"queue": LONG_QUEUE}}  # and the messages of jobs of a long kind
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
# Never pickle: who can write to the broker could run programs on the workers.
CELERY_ACCEPT_CONTENT = ["json"]
# Unused; commands from the broker would be one more way in.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# A message that a busy worker has fetched ahead waits for it while others are idle.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_ACKS_LATE = False  # the database's leases bring work back, whatever the broker did
CELERY_TIMEZONE = "UTC"

NUMERIC_THREADS = env_int("NUMERIC_THREADS", default=1, minimum=1)  # of each worker; recorded with every run
# Without these, linear algebra starts a thread for each core in every process; those that wait for work keep the cores
# from the others. A process that is to use more says so where it computes.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, str(NUMERIC_THREADS))
MEMORY_LIMIT = env_bytes("PARALLAX_MEMORY_LIMIT")  # of one fit; None: what the machine has left
LEASE_SECONDS = env_int("LEASE_SECONDS", default=30, minimum=1)
SWEEP_SECONDS = env_int("SWEEP_SECONDS", default=5)  # the worker's own clock; 0 leaves it to beat
CELERY_BEAT_SCHEDULE = {
    # A sweep that waits longer than its pace is not wanted any more: the next one is on its way.
    name: {"task": name, "schedule": max(SWEEP_SECONDS, 5), "options": {"expires": max(SWEEP_SECONDS, 5)}}
    for name in map("{}.sweep".format, ("accounts", "jobs", "catalog", "evaluation", "studies", "backup", "webhooks"))
}
ALIVE_FILE = Path(name) if (name := env_str("PARALLAX_ALIVE_FILE")) else None  # touched by workers and beat
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")

# Folders of this machine, or one bucket for several machines; each of those maps its own copies into memory.
ARTEFACTS_S3 = env_str("PARALLAX_ARTEFACTS_S3", "")
BACKUP_RECIPIENT = env_secret("PARALLAX_BACKUP_RECIPIENT") or ""  # public keys of age
BACKUP_HOURS = env_int("PARALLAX_BACKUP_HOURS", default=0)  # after which a missing one is reported; 0: never
_s3 = {
    "endpoint_url": env_site("PARALLAX_S3_ENDPOINT"),
    "region_name": env_str("PARALLAX_S3_REGION", ""),
    "access_key": env_secret("AWS_ACCESS_KEY_ID"),
    "secret_key": env_secret("AWS_SECRET_ACCESS_KEY"),
}
_backups = bucket_options(env_str("PARALLAX_BACKUP_S3", ""), "PARALLAX_BACKUP_S3", **_s3)
STORAGES = {
    **storages_in(
        VAR_DIR,
        bucket=bucket_options(ARTEFACTS_S3, **_s3),
        artefact_backend=env_str("ARTEFACT_STORAGE", ""),
    ),
    **({"backups": {"BACKEND": BUCKET, "OPTIONS": _backups}} if _backups else {}),
    "staticfiles": {"BACKEND": "parallax.static_files.HashedStorage"},
}
ARTEFACT_CACHE = Path(env_str("PARALLAX_ARTEFACT_CACHE", str(VAR_DIR / "artefact-cache"))).absolute()
ARTEFACT_CACHE_SIZE = env_bytes("PARALLAX_ARTEFACT_CACHE_SIZE") or 20 * 2**30
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "parallax.static_files.HashedFinder",
]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_MAX_AGE = 600
WHITENOISE_IMMUTABLE_FILE_TEST = r"^.+(/(built|fonts)/[^/]+|\.[0-9a-f]{12}\.\w+)$"  # whose names say their version

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    # For reading alone: a hash by it is replaced by one of the first at the next sign-in.
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
LOGIN_URL = "accounts:sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "accounts:sign_in"
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 24  # hours for which wrong attempts count; how long a lock lasts is decided by the handler
AXES_HANDLER = "accounts.services.sign_in.AccountLocks"
AXES_LOCKOUT_PARAMETERS = "accounts.services.sign_in.counted_together"
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # repeated attempts do not extend the owner's lock
AXES_USERNAME_FORM_FIELD = "username"
AXES_CLIENT_IP_CALLABLE = "core.networks.first_address"  # of the gateway's REMOTE_ADDR; headers are never guessed at
AXES_LOCKOUT_CALLABLE = "accounts.services.sign_in.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_DISABLE_ACCESS_LOG = True  # it would keep plain addresses for ever; sign-ins are in the security log
# Second factors are by django-allauth. Its pages have our templates, and its limits, counted by each process, are
# replaced by those of accounts/services/sign_in.py.
ACCOUNT_ADAPTER = "accounts.services.library_adapters.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # addresses are given by administrators, by invitations or by the institution
ACCOUNT_RATE_LIMITS = False
MFA_ADAPTER = "accounts.services.library_adapters.SecondFactorAdapter"
MFA_RATE_LIMITS = False
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Parallax"
MFA_TOTP_TOLERANCE = 1  # steps of 30 seconds, for telephones whose clock is a little off
MFA_RECOVERY_CODES_SHOW_ONCE = True
SOCIALACCOUNT_ADAPTER = "accounts.services.single_sign_on.InstitutionAdapter"
SOCIALACCOUNT_EMAIL_REQUIRED = False  # the adapter requires a verified one, which is the account's own field
SOCIALACCOUNT_PROVIDERS = single_sign_on()
SECOND_FACTOR = env_choice(
    "PARALLAX_SECOND_FACTOR",
    ("optional", "administrators", "everyone"),  # who needs one
    default="administrators" if is_public(ALLOWED_HOSTS, is_https=HTTPS) else "optional",
)
IDLE_MINUTES = env_int("PARALLAX_IDLE_MINUTES", default=120)  # after which a researcher is signed out; 0: never
# Letters hold links that open accounts: without a mail server they are private files, and never in a log.
EMAIL_HOST = env_str("EMAIL_HOST", "")
EMAIL_BACKEND = env_str(
    "EMAIL_BACKEND", f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'filebased'}.EmailBackend"
)
EMAIL_FILE_PATH = VAR_DIR / "mail"
_tls = env_choice("EMAIL_TLS", ("starttls", "ssl", "none"))
EMAIL_USE_TLS, EMAIL_USE_SSL = _tls == "starttls", _tls == "ssl"
EMAIL_PORT = env_int("EMAIL_PORT", default={"starttls": 587, "ssl": 465, "none": 25}[_tls], minimum=1)
EMAIL_HOST_USER = env_str("EMAIL_USER", "")
EMAIL_HOST_PASSWORD = env_secret("EMAIL_PASSWORD") or ""
EMAIL_TIMEOUT = 10  # seconds
SITE_URL = env_site("PARALLAX_URL")  # what letters link to; no request says it where they are written
METRICS_TOKEN = env_secret("PARALLAX_METRICS_TOKEN") or ""  # of Prometheus; without it there are no metrics
IMPORT_DIR = env_str("PARALLAX_IMPORT_DIR", "")  # files beneath it may be imported by staff; without it, none
RECOMMENDER_HOSTS = env_list("PARALLAX_RECOMMENDER_HOSTS", default=[])  # that recommenders behind HTTP may be on
WEBHOOK_HOSTS = env_list("PARALLAX_WEBHOOK_HOSTS", default=[])  # inside networks, or without TLS, that webhooks may use
CONTACT = env_str("PARALLAX_CONTACT", "")  # shown on pages that belong to no study, as a wrong link's
DEFAULT_FROM_EMAIL = env_str("DEFAULT_FROM_EMAIL", "Parallax <parallax@localhost>")

# For programs, under /api/v1/. Addresses in answers are absolute; nothing is drawn as a page.
API_RATE = env_str("PARALLAX_API_RATE", "600/min")  # of each token: throttles by address hit a whole campus behind one
# Sites whose scripts may ask it, by a token: never by the session, whose cookie is not sent.
CORS_ALLOWED_ORIGINS = env_list("PARALLAX_CORS_ORIGINS", default=[])
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_HEADERS = ["accept", "authorization", "content-type", "idempotency-key", "if-match"]
CORS_EXPOSE_HEADERS = [
    "Content-Disposition",
    "Deprecation",
    "ETag",
    "Link",
    "Location",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "Sunset",
    "X-Request-ID",
]
if CORS_ALLOWED_ORIGINS:
    INSTALLED_APPS.append("corsheaders")  # which checks that they are origins
    MIDDLEWARE.insert(
        MIDDLEWARE.index("whitenoise.middleware.WhiteNoiseMiddleware"), "corsheaders.middleware.CorsMiddleware"
    )
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.permissions.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.permissions.ScopePermission"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.permissions.TokenThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "parallax.api.paging.Pages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "core.api.ParameterSchema",
    "EXCEPTION_HANDLER": "parallax.api.errors.answer",
    "STRICT_JSON": True,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Parallax",
    "VERSION": "1",
    "DESCRIPTION": "Studies and tidy answers, datasets, models, runs and results, reports and their files. Permissions "
    "are those of the console: what you may not see there does not exist here.",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "StudyStatus": "studies.enums.StudyStatus",
        "ParticipantStatus": "studies.enums.ParticipantStatus",
        "RunStatus": "evaluation.enums.RunStatus",
        "Mode": "studies.enums.Mode",
        "ReportedMode": "studies.serializers.REPORTED",
        "Role": "studies.enums.Role",
        "RequestStatusEnum": "jobs.models.REQUEST_STATES",
        "JobStatus": "jobs.models.JobStatus",
        "WebhookEvent": "parallax.webhooks.models.EventType",
        "DeliveryStatus": "parallax.webhooks.models.DeliveryStatus",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "parallax.api.errors.add_refusals",
        "parallax.api.operations.add_examples",
    ],
    "TAGS": [
        {"name": "account", "description": "Account and token of the request."},
        {
            "name": "studies",
            "description": "Your studies with designs, counts and answers as tidy tables.",
        },
        {"name": "uploads", "description": "Files that you send in pieces, to be imported."},
        {"name": "datasets", "description": "Datasets and their versions."},
        {"name": "models", "description": "Trained models by recipe and digest."},
        {"name": "runs", "description": "Evaluation runs and their results: metrics, per-user values, curves."},
        {"name": "experiments", "description": "The experiments that come with Parallax."},
        {"name": "recommenders", "description": "Remote recommenders that administrators registered."},
        {"name": "reports", "description": "Reports, as JSON and as files."},
        {"name": "jobs", "description": "Work that workers do for you: imports, simulations, exports, reports."},
        {"name": "webhooks", "description": "Your addresses that are sent events, signed as Standard Webhooks say."},
    ],
}

LANGUAGE_CODE = "en"
# Participants' pages are in these. A language is listed once its catalogue under locale/ is complete for them
# (tests/parallax/test_catalogues.py).
LANGUAGES = [("en", _("English")), ("it", _("Italian")), ("de", _("German"))]
LOCALE_PATHS = [compiled_catalogues(BASE_DIR / "locale", VAR_DIR / "locale")]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# Only behind a proxy: without one, any client could send the header and pass for HTTPS.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(health|ready|metrics)/$"]  # asked from inside, without the proxy
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
# Both bind every other site of the domain, for a year: only its owner can decide that.
_hsts = env_choice("HSTS", ("host", "subdomains", "preload"))
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS and _hsts != "host"
SECURE_HSTS_PRELOAD = HTTPS and _hsts == "preload"
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # which ask for them
COOKIE_PREFIX = "__Host-" if HTTPS else ""  # browsers take such a cookie from this host alone, not from a sibling
SESSION_COOKIE_NAME, SESSION_COOKIE_SECURE = f"{COOKIE_PREFIX}sessionid", HTTPS
CSRF_COOKIE_NAME, CSRF_COOKIE_SECURE = f"{COOKIE_PREFIX}csrftoken", HTTPS
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # not in a cookie of their own
CSRF_FAILURE_VIEW = "parallax.views.csrf_refused"
SESSION_COOKIE_AGE = 14 * 24 * 3600
# Participants' addresses hold their tokens, which no other site may learn from a referrer.
SECURE_REFERRER_POLICY = "same-origin"
# For browsers that do not know `frame-ancestors` below.
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        # The chart runtime brings two style elements of its own; these digests name them and nothing else.
        "style-src": [SELF, *STYLE_HASHES],
        "img-src": [SELF, "data:"],
        "media-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}

SECURITY_LOG = env_choice("PARALLAX_SECURITY_LOG", ("file", "stdout"))  # see core.security_log
SECURITY_LOG_DAYS = env_int("PARALLAX_SECURITY_LOG_DAYS", default=90, minimum=1)
SECURITY_LOG_ADDRESSES = env_bool("PARALLAX_SECURITY_LOG_ADDRESSES", default=False)  # besides digests of networks
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "filters": {
        "masked": {"()": "core.security_log.MaskLinks"},
        "one_line": {"()": "parallax.log_filters.OneLine"},
    },
    "handlers": {
        "console": {"class": "core.log_files.StandardError", "formatter": "plain", "filters": ["one_line", "masked"]}
    },
    "root": {"handlers": ["console"], "level": env_str("LOG_LEVEL", "WARNING")},
    "loggers": {"axes": {"level": "ERROR"}},  # failed sign-ins are in the security log
}
TEST_RUNNER = "django.test.runner.DiscoverRunner"
