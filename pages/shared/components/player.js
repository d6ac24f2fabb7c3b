// Plays the frames of a map of heads, which draws what it is sent (head_map.js).

const INTERVAL = 700; // ms that a frame stays
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  let view = views.get(parentElement);
  if (!view) views.set(parentElement, (view = new Player(parentElement)));
  view.send = setTriggerValue;
  view.data = data;
  if (!view.timer) view.show(data.at, false);
  return () => {
    clearInterval(view.timer);
    view.root.remove();
    views.delete(parentElement);
  };
}

class Player {
  constructor(parent) {
    this.root = parent.appendChild(document.createElement("div"));
    this.root.className = "player";
    this.button = this.root.appendChild(document.createElement("button"));
    this.button.type = "button";
    this.label = this.root.appendChild(document.createElement("span"));
    this.button.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
  }

  play() {
    const last = this.data.frames.length - 1;
    this.timer = setInterval(() => (this.at < last ? this.show(this.at + 1, true) : this.stop()), INTERVAL);
    this.show(this.at < last ? this.at + 1 : 0, true);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.show(this.at, false);
    this.send("at", this.at);
  }

  show(at, playing) {
    this.at = at;
    this.button.textContent = playing ? "Pause" : "Play";
    this.label.textContent = playing ? this.data.titles[at] : "";
    const detail = { map: this.data.map, frame: this.data.frames[at] };
    if (playing) document.dispatchEvent(new CustomEvent("head-map-frame", { detail }));
  }
}
