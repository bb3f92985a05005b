// The page that checks a file which belongs to no match of the page.

import { mount } from "./auditing.js";
import { $ } from "./site.js";

mount($("audit"));
