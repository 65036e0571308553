// The page that shows the interface for programs: it asks as whoever is signed in.
"use strict";

const place = document.getElementById("api");
SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  validatorUrl: null,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  presets: [SwaggerUIBundle.presets.apis],
  // A page has one main part, and this is within it.
  onComplete: () => place.querySelectorAll("main").forEach((part) => part.setAttribute("role", "presentation")),
  requestInterceptor: (request) => {
    if (new URL(request.url, location.href).origin === location.origin) {
      request.headers["X-CSRFToken"] = place.dataset.csrf;
    }
    return request;
  },
});
