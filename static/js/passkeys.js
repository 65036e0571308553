// Forms with data-passkey ask the browser for a passkey and send it: "create" adds one, "get" uses one. Its options are in
// the element that data-options names, or are fetched from the address of the form.
(() => {
  const { webauthnJSON } = window;
  if (!webauthnJSON || !window.PublicKeyCredential) return;

  const optionsOf = async (form) => {
    if (form.dataset.options) return JSON.parse(document.getElementById(form.dataset.options).textContent);
    const answer = await fetch(form.action, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return (await answer.json()).request_options;
  };

  const create = (options) => {
    options.publicKey.authenticatorSelection = {
      ...options.publicKey.authenticatorSelection,
      residentKey: "required", requireResidentKey: true, userVerification: "required",
    };
    return webauthnJSON.create(options);
  };

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const problem = form.querySelector("[data-problem]");
      try {
        const options = await optionsOf(form);
        const credential = form.dataset.passkey === "create" ? await create(options) : await webauthnJSON.get(options);
        form.elements.credential.value = JSON.stringify(credential);
        form.submit();
      } catch {
        problem.textContent = "No passkey was used. Try again, or choose another way.";
        problem.hidden = false;
      }
    });
  }
})();
