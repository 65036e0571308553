// The REST API page; requests use the session of the signed-in account.
"use strict";

const container = document.getElementById("api");
SwaggerUIBundle({
  url: container.dataset.schema,
  domNode: container,
  validatorUrl: null,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  presets: [SwaggerUIBundle.presets.apis],
  // A page has one main part, and this is within it.
  onComplete: () => { for (const part of container.querySelectorAll("main")) part.setAttribute("role", "presentation"); },
  requestInterceptor: (request) => {
    if (new URL(request.url, location.href).origin === location.origin) {
      request.headers["X-CSRFToken"] = container.dataset.csrf;
    }
    return request;
  },
});
