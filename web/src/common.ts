// What the first screen has in common with some page that is fetched later. That and each such page import "./adapt";
import "./pages/events";
import "./pages/jobframe";
import "./pages/overview";
import "./ui/chart";
import "./ui/palette";
import "./ui/rankgrid";
import "./ui/waits";
