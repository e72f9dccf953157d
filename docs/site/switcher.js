// The sliders of a notebook's page: they replace the picture above them by one that was drawn beforehand.
for (const controls of document.querySelectorAll(".switcher")) {
  const picture = controls.parentElement.previousElementSibling, sliders = [...controls.querySelectorAll("input")];
  const label = slider => JSON.parse(slider.dataset.labels)[slider.value];
  const change = () => {
    for (const slider of sliders) {
      slider.setAttribute("aria-valuetext", label(slider));
      slider.nextElementSibling.value = label(slider);
    }
    picture.alt = sliders.map(slider => `${slider.dataset.name} = ${label(slider)}`).join(", ");
    picture.src = `${controls.dataset.pictures}${sliders.map(slider => slider.value).join("-")}.png`;
  };
  sliders.forEach(slider => slider.addEventListener("input", change));
  controls.hidden = false;
}
