"""A Django site of one page behind the middleware: its settings and its URLs."""

from django.http import HttpResponse
from django.urls import path

ROOT_URLCONF = "django_site"
ALLOWED_HOSTS = ["127.0.0.1"]
SECRET_KEY = "of the test"
MIDDLEWARE = ["django_middleware.rate_limit"]
urlpatterns = [path("", lambda request: HttpResponse("hello"))]
