import { render } from "preact";
import { App } from "./app.js";
import { followLinks } from "./state/route.js";
import "./state/theme.js";
import "./styles.css";

document.addEventListener("click", followLinks);
render(<App />, document.getElementById("page") as HTMLElement);
