// The page around one map of heads. `mount` comes from head_map.js, which precedes this script.

mount({
  data: new TextEncoder().encode(document.getElementById("data").textContent),
  parentElement: document.getElementById("map"),
  setTriggerValue: () => {}, // the map itself rings the head that was clicked
});
