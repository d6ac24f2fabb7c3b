// Plays a training: asks the page for one checkpoint after the other, each when the last one is drawn.

const INTERVAL = 700; // ms that a checkpoint stays

class Player {
  constructor() {
    this.button = button("Play", () => this.toggle());
    this.root = html("div", { class: "player" }, this.button);
  }

  update(data) {
    this.data = data;
    clearTimeout(this.timer);
    if (this.playing) this.timer = setTimeout(() => this.ask(Math.min(data.at + 1, data.last), data.at + 1 < data.last), INTERVAL);
  }

  close() {
    clearTimeout(this.timer);
  }

  toggle() {
    const { at, last } = this.data, next = at < last ? at + 1 : 0;
    this.ask(this.playing ? at : next, !this.playing);
  }

  ask(index, playing) {
    clearTimeout(this.timer);
    this.playing = playing;
    this.button.textContent = playing ? "Pause" : "Play";
    this.send("at", { index, playing });
  }
}

export default mounting(Player);
