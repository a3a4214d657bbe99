// The stage: first person and map side by side, one camera that glides from pose to pose.

const GLIDE_MS = 150;
const GLIDE_REACH = 4;
const DAY_MIST = 0.018;
const NIGHT_MIST = 0.14;
const MARK = "#f3c63f";

/** The camera of a pose; it glides there, unless that is far away or the reader prefers reduced motion. */
function useCamera({cell: [x, y, z], facing, pitch}) {
  const goal = {eye: [x + 0.5, y + EYE_HEIGHT, z + 0.5], yaw: (facing * Math.PI) / 2, pitch: pitch * PITCH_STEP};
  const [camera, setCamera] = useState(goal);
  useLayoutEffect(() => {
    const began = performance.now();
    const turn = Math.atan2(Math.sin(goal.yaw - camera.yaw), Math.cos(goal.yaw - camera.yaw));
    const length = distance(goal.eye, camera.eye) < GLIDE_REACH ? GLIDE_MS : 1;
    let frame = 0;
    const move = (now) => {
      const share = Math.min(1, Math.max(0, (now - began) / length));
      const between = (from, to) => from + share * share * (3 - 2 * share) * (to - from);
      setCamera({
        eye: goal.eye.map((to, i) => between(camera.eye[i], to)),
        yaw: between(camera.yaw, camera.yaw + turn),
        pitch: between(camera.pitch, goal.pitch),
      });
      if (share < 1) frame = requestAnimationFrame(move);
    };
    frame = requestAnimationFrame(move);
    return () => cancelAnimationFrame(frame);
  }, [x, y, z, facing, pitch]);
  return CALM.matches ? goal : camera;
}

/** What is seen, if the browser can draw it. */
function StageView(props) {
  if (graphicsCard()) return h(Stage, props);
  return h(Notice, {tone: "warn", title: "There are no pictures"}, "This browser draws no WebGL 2.");
}

/**
 * Both views, and in words what the pointer is on.
 *
 * @param {{sight: object, hint: string, pointed?: object|null, touch?: (cell: number[], place: boolean) => void}} props
 *   `sight`: look, size, spawn, dark, blocks, things, pose, trail, extent; `hint` while the pointer is on nothing;
 *   `pointed` what it is on elsewhere; `touch` for clicks on the picture, of the other button to `place`
 */
function Stage({sight, hint, pointed, touch}) {
  const [box] = useWidth(); // draws again with another width
  const camera = useCamera(sight.pose);
  const views = useRef({});
  const [found, setFound] = useState(null);
  const shown = found ?? pointed;
  useLayoutEffect(() => {
    graphicsCard().fill(sight);
    setFound(null); // what the pointer was on has moved with the step
  }, [sight]);
  useLayoutEffect(() => {
    const chosen = shown?.cell ?? sight.pose.aim;
    for (const canvas of box.current.querySelectorAll("canvas")) {
      const aspect = fitCanvas(canvas);
      const view = canvas.className === "first" ? viewAhead(camera, aspect) : viewAbove(sight, aspect);
      graphicsCard().draw(canvas, view, chosen, sight.dark ? NIGHT_MIST : DAY_MIST);
      if (view.isAbove) drawSigns(canvas, view, sight, chosen);
      views.current[canvas.className] = view;
    }
  });

  const find = ({target, offsetX, offsetY}) => findAt(views.current[target.className], sight,
    (2 * offsetX) / target.clientWidth - 1, 1 - (2 * offsetY) / target.clientHeight);
  const click = (place) => (event) => {
    event.preventDefault();
    const on = find(event);
    if (on) touch(on.cell, place);
  };
  const draw = (name, title, more) => h("figure", {class: `of-${name}`},
    h("figcaption", null, title),
    h("div", null, h("canvas", {class: name, role: "img", "aria-label": title, ...more,
      onPointerMove: (event) => setFound(find(event)), onPointerLeave: () => setFound(null)})));
  return h(Fragment, null,
    h("div", {class: classes("stage", sight.dark && "is-dark"), ref: box},
      draw("first", "First person", touch && {onClick: click(false), onContextMenu: click(true)}),
      draw("above", "Map from above")),
    h("p", {class: "pointed small muted"}, shown ? describeFound(shown, sight) : hint));
}

/** Give a canvas the pixels of its place on the page. @returns {number} its width in heights */
function fitCanvas(canvas) {
  const scale = Math.min(devicePixelRatio, 2);
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
  return width / height;
}

/** Draw the way so far, the agent, and the outline of a cell over the map. */
function drawSigns(canvas, {eye, axes}, {trail, pose}, chosen) {
  const pen = canvas.getContext("2d");
  const scale = canvas.height / 2 / -axes[1][2];
  const [x, , z] = pose.cell;
  pen.setTransform(scale, 0, 0, scale, canvas.width / 2 - eye[0] * scale, canvas.height / 2 - eye[2] * scale);
  pen.strokeStyle = MARK;
  pen.lineWidth = 0.14;
  pen.beginPath();
  for (const [column, , row] of trail) pen.lineTo(column + 0.5, row + 0.5);
  pen.stroke();
  if (chosen) pen.strokeRect(chosen[0], chosen[2], 1, 1);
  drawArrow(pen, x + 0.5, z + 0.5, Math.max(1.2, 14 / scale), ((pose.facing + 1) * Math.PI) / 2);
  pen.resetTransform();
}

function describeFound({cell, what}, {spawn, pose}) {
  return `${what} at ${awayFrom(spawn, cell)}, ${distance(cell, pose.cell).toFixed(1)} m away`;
}
