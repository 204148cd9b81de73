<?php
// To the log of whoever started the test.

return ['default' => 'errorlog', 'channels' => ['errorlog' => ['driver' => 'errorlog']]];
