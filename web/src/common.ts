// What the first screen has in common with some page that is fetched later. That and each such page import this, so that the build
// makes one file of it: a file for each set of pages that share something would be four to fetch, and larger together.
import "./adapt";
import "./pages/jobframe";
import "./ui/palette";
import "./ui/stacks";
