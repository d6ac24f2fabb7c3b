// Plays the frames of a map of heads, which draws what it is sent (head_map.js).

const INTERVAL = 700; // ms that a frame stays

class Player {
  constructor() {
    this.root = html("div", { class: "player" });
    this.button = button("", () => (this.timer ? this.stop() : this.play()));
    this.label = html("span");
    this.root.append(this.button, this.label);
  }

  update(data) {
    this.data = data;
    if (!this.timer) this.show(data.at, false);
  }

  close() {
    clearInterval(this.timer);
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

export default mounting(Player);
